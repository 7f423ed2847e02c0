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

/// Where there would be too many, one side's alone, which hold them all.
Boxes intersection(Boxes a, Boxes b) {
  if (a.size() * b.size() > kBoxesMax) return a.size() < b.size() ? std::move(a) : std::move(b);
  Boxes both;
  for (const Box& of_a : a) {
    for (const Box& of_b : b) {
      Box box{intersection(of_a.partition_keys, of_b.partition_keys), intersection(of_a.row_keys, of_b.row_keys)};
      if (!box.partition_keys.is_empty() && !box.row_keys.is_empty()) both.push_back(std::move(box));
    }
  }
  return both;
}

Boxes united(Boxes a, Boxes b) {
  if (a.size() + b.size() > kBoxesMax) return {Box()};
  a.insert(a.end(), std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
  return a;
}

Boxes boxes_of(const Filter& filter) {
  if (filter.matches_everything()) return {Box()};
  std::vector<Boxes> of_nodes(filter.nodes().size());
  for (std::size_t i = 0; i < of_nodes.size(); ++i) {
    const FilterNode& node = filter.nodes()[i];
    const auto take = [&](std::uint32_t place) { return std::exchange(of_nodes[place], Boxes()); };
    switch (node.kind) {
      case FilterNode::Kind::kComparison: of_nodes[i] = boxes_of(filter.comparisons()[node.first]); break;
      case FilterNode::Kind::kFalse: break;
      case FilterNode::Kind::kTrue:
      case FilterNode::Kind::kNot: of_nodes[i] = {Box()}; break;
      case FilterNode::Kind::kAnd: of_nodes[i] = intersection(take(node.first), take(node.second)); break;
      case FilterNode::Kind::kOr: of_nodes[i] = united(take(node.first), take(node.second)); break;
    }
  }
  return std::move(of_nodes.back());
}

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

std::vector<KeyRange> plan_ranges(const Filter& filter, format::TableId table, const KeyRange& within) {
  std::vector<KeyRange> ranges;
  for (const Box& box : boxes_of(filter)) {
    KeyRange range = range_of(box, table);
    range.lower = std::max(range.lower, within.lower);
    range.upper = std::min(range.upper, within.upper);
    if (range.lower < range.upper) ranges.push_back(std::move(range));
  }
  std::sort(ranges.begin(), ranges.end(), [](const KeyRange& a, const KeyRange& b) { return a.lower < b.lower; });
  std::vector<KeyRange> apart;
  for (KeyRange& range : ranges) {
    if (apart.empty() || apart.back().upper <= range.lower) {
      apart.push_back(std::move(range));
    } else if (apart.back().upper < range.upper) {
      apart.back().upper = std::move(range.upper);
      apart.back().is_point = false;
    }
  }
  return apart;
}

}  // namespace varve
