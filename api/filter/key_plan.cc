// Owns: the derivation of key ranges from comparisons of PartitionKey and RowKey (key_plan.h).
// Must never: recurse, or hold more boxes than kBoxesMax.
//
// What a node of the filter can match is a union of boxes: an interval of PartitionKeys by an interval of RowKeys.
// `and` intersects, `or` unites; `not`, and comparisons with anything but keys, can match everything. Texts are
// compared by their encodings in sort keys, whose order is that of the texts and none of which is a prefix of another.
#include "api/filter/key_plan.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "format/sort_key.h"

namespace varve {
namespace {

constexpr std::size_t kBoxesMax = 4096;

/// Encoded texts from `lower` on, up to but without `upper`, or to the end.
struct Interval {
  std::string lower;
  std::optional<std::string> upper;
  bool is_point = false;

  bool is_empty() const noexcept { return upper.has_value() && *upper <= lower; }
};

struct Box {
  Interval partition_keys;
  Interval row_keys;
};
using Boxes = std::vector<Box>;

Interval intersection(const Interval& a, const Interval& b) {
  Interval both;
  both.lower = std::max(a.lower, b.lower);
  both.upper = !a.upper ? b.upper : !b.upper ? a.upper : std::min(*a.upper, *b.upper);
  both.is_point = a.is_point || b.is_point;
  return both;
}

/// The empty one: no text sorts below it.
std::string lowest_text() {
  std::string encoded;
  const Status appended = format::append_text(encoded, {});
  return appended.ok() ? encoded : std::string();
}

/// The texts that compare so with the literal; nothing where none does.
std::optional<Interval> interval_of(CompareOperator compare, const Value& literal) {
  const auto* const text = literal.get_if<std::string>();
  if (text == nullptr) {  // A key, a String, counts as smaller than a literal of another type.
    const bool always = compare == CompareOperator::kNotEqual || compare == CompareOperator::kLess ||
                        compare == CompareOperator::kLessOrEqual;
    return always ? std::optional<Interval>(Interval()) : std::nullopt;
  }
  std::string encoded;
  const Status appended = format::append_text(encoded, *text);
  if (!appended.ok()) return Interval();  // The filter is valid UTF-8, so this does not come.
  const std::string behind = format::end_of_prefix(encoded);
  switch (compare) {
    case CompareOperator::kEqual: return Interval{encoded, behind, true};
    case CompareOperator::kNotEqual: return Interval();
    case CompareOperator::kGreater: return Interval{behind, std::nullopt, false};
    case CompareOperator::kGreaterOrEqual: return Interval{encoded, std::nullopt, false};
    case CompareOperator::kLess: return Interval{lowest_text(), encoded, false};
    case CompareOperator::kLessOrEqual: return Interval{lowest_text(), behind, false};
  }
  return Interval();
}

Boxes boxes_of(const Comparison& comparison) {
  Box box;
  if (comparison.subject == Comparison::Subject::kTimestamp || comparison.subject == Comparison::Subject::kCustom) {
    return {box};
  }
  std::optional<Interval> interval = interval_of(comparison.compare, comparison.literal);
  if (!interval || interval->is_empty()) return {};
  (comparison.subject == Comparison::Subject::kPartitionKey ? box.partition_keys : box.row_keys) = *std::move(interval);
  return {std::move(box)};
}

/// What a node can match; and whether that is just what it does match, which need not be judged again.
struct Matching {
  Boxes boxes;
  bool is_exact = false;
  bool names_row_keys = false;
  /// Boxes were left out for want of room: what they said of keys is not kept.
  bool is_cut_short = false;
};

bool is_everything(const Interval& interval) noexcept {
  return interval.lower.empty() && !interval.upper;
}

Matching matching(const Comparison& comparison) {
  const bool is_key =
      comparison.subject == Comparison::Subject::kPartitionKey || comparison.subject == Comparison::Subject::kRowKey;
  const bool is_text = comparison.literal.get_if<std::string>() != nullptr;
  Matching made;
  made.boxes = boxes_of(comparison);
  made.is_exact = is_key && !(is_text && comparison.compare == CompareOperator::kNotEqual);
  made.names_row_keys = comparison.subject == Comparison::Subject::kRowKey;
  return made;
}

/// Where there would be too many boxes, one side's alone, which hold them all.
Matching intersection(Matching a, Matching b) {
  Matching both;
  both.names_row_keys = a.names_row_keys || b.names_row_keys;
  if (a.boxes.size() * b.boxes.size() > kBoxesMax) {
    both.boxes = a.boxes.size() < b.boxes.size() ? std::move(a.boxes) : std::move(b.boxes);
    both.is_cut_short = true;
    return both;
  }
  both.is_exact = a.is_exact && b.is_exact;
  for (const Box& of_a : a.boxes) {
    for (const Box& of_b : b.boxes) {
      Box box{intersection(of_a.partition_keys, of_b.partition_keys), intersection(of_a.row_keys, of_b.row_keys)};
      if (!box.partition_keys.is_empty() && !box.row_keys.is_empty()) both.boxes.push_back(std::move(box));
    }
  }
  return both;
}

Matching united(Matching a, Matching b) {
  Matching both;
  both.names_row_keys = a.names_row_keys || b.names_row_keys;
  if (a.boxes.size() + b.boxes.size() > kBoxesMax) {
    both.boxes = {Box()};
    both.is_cut_short = true;
    return both;
  }
  both.is_exact = a.is_exact && b.is_exact;
  both.boxes = std::move(a.boxes);
  both.boxes.insert(both.boxes.end(), std::make_move_iterator(b.boxes.begin()), std::make_move_iterator(b.boxes.end()));
  return both;
}

/// What is joined by `and` at the top of the filter, in the order of the text.
std::vector<std::uint32_t> conjuncts(const Filter& filter) {
  std::vector<std::uint32_t> found;
  std::vector<std::uint32_t> open = {static_cast<std::uint32_t>(filter.nodes().size() - 1)};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    const FilterNode& node = filter.nodes()[at];
    if (node.kind == FilterNode::Kind::kAnd) {
      open.insert(open.end(), {node.second, node.first});
    } else {
      found.push_back(at);
    }
  }
  return found;
}

/// What the whole filter can match, and which of its conjuncts the boxes say in full.
class BoxPlan {
 public:
  explicit BoxPlan(const Filter& filter) : filter_(filter), exact_(filter.nodes().size()), rows_(exact_.size()) {
    std::vector<Matching> of_nodes(filter.nodes().size());
    for (std::size_t i = 0; i < of_nodes.size(); ++i) {
      of_nodes[i] = matching_of(filter.nodes()[i], of_nodes);
      exact_[i] = of_nodes[i].is_exact;
      rows_[i] = of_nodes[i].names_row_keys;
    }
    if (!of_nodes.empty()) boxes_ = std::move(of_nodes.back().boxes);
  }

  const Boxes& boxes() const noexcept { return boxes_; }

  Filter residual() const {
    if (filter_.matches_everything()) return filter_;
    // RowKeys narrow a range only within one partition.
    const bool rows_kept = std::all_of(boxes_.begin(), boxes_.end(), [](const Box& box) {
      return box.partition_keys.is_point || is_everything(box.row_keys);
    });
    std::vector<std::uint32_t> left;
    for (const std::uint32_t node : conjuncts(filter_)) {
      const bool said = exact_[node] && !is_cut_short_ && (rows_kept || !rows_[node]);
      if (!said) left.push_back(node);
    }
    return filter_.all_of(left);
  }

 private:
  Matching matching_of(const FilterNode& node, std::vector<Matching>& of_nodes) {
    const auto take = [&](std::uint32_t place) { return std::exchange(of_nodes[place], Matching()); };
    const auto joined = [&](const auto& join) {
      Matching both = join(take(node.first), take(node.second));
      is_cut_short_ = is_cut_short_ || both.is_cut_short;
      return both;
    };
    switch (node.kind) {
      case FilterNode::Kind::kComparison: return matching(filter_.comparisons()[node.first]);
      case FilterNode::Kind::kFalse: return {{}, true, false, false};
      case FilterNode::Kind::kTrue: return {{Box()}, true, false, false};
      case FilterNode::Kind::kNot: return {{Box()}, false, of_nodes[node.first].names_row_keys, false};
      case FilterNode::Kind::kAnd:
        return joined([](Matching a, Matching b) { return intersection(std::move(a), std::move(b)); });
      case FilterNode::Kind::kOr:
        return joined([](Matching a, Matching b) { return united(std::move(a), std::move(b)); });
    }
    return {{Box()}, false, false, false};
  }

  const Filter& filter_;
  std::vector<bool> exact_;
  std::vector<bool> rows_;
  bool is_cut_short_ = false;
  Boxes boxes_ = {Box()};
};

/// RowKeys narrow a range only within one partition.
KeyRange range_of(const Box& box, format::TableId table) {
  std::string prefix = format::encode_table(table);
  const bool one_partition = box.partition_keys.is_point;
  if (one_partition) prefix += box.partition_keys.lower;
  const Interval& interval = one_partition ? box.row_keys : box.partition_keys;
  KeyRange range;
  range.lower = prefix + interval.lower;
  range.upper = interval.upper ? prefix + *interval.upper : format::end_of_prefix(prefix);
  range.is_point = one_partition && box.row_keys.is_point;
  return range;
}

}  // namespace

KeyPlan plan_keys(const Filter& filter, format::TableId table, const KeyRange& within) {
  const BoxPlan plan(filter);
  std::vector<KeyRange> ranges;
  for (const Box& box : plan.boxes()) {
    KeyRange range = range_of(box, table);
    range.lower = std::max(range.lower, within.lower);
    range.upper = std::min(range.upper, within.upper);
    if (range.lower < range.upper) ranges.push_back(std::move(range));
  }
  std::sort(ranges.begin(), ranges.end(), [](const KeyRange& a, const KeyRange& b) { return a.lower < b.lower; });
  KeyPlan planned;
  std::vector<KeyRange>& apart = planned.ranges;
  for (KeyRange& range : ranges) {
    if (apart.empty() || apart.back().upper <= range.lower) {
      apart.push_back(std::move(range));
    } else if (apart.back().upper < range.upper) {
      apart.back().upper = std::move(range.upper);
      apart.back().is_point = false;
    }
  }
  planned.residual = plan.residual();
  return planned;
}

}  // namespace varve
