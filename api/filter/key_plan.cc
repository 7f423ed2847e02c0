// Owns: the derivation of key ranges from comparisons of PartitionKey and RowKey (key_plan.h).
// Must never: recurse, or take more than n log n steps for n comparisons.
//
// The keys that a node can match are a union of boxes (key_boxes.h). A sequence of `and`, or of `or`, is joined at
// once, so its order and length do not matter. `not`, and a comparison with anything but a key, can match every key.
#include "api/filter/key_plan.h"

#include <algorithm>
#include <utility>

#include "api/filter/key_boxes.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

bool is_joint(const FilterNode& node) noexcept {
  return node.kind == FilterNode::Kind::kAnd || node.kind == FilterNode::Kind::kOr;
}

/// Returns the operands of a sequence of `and` or `or` at `whole`, in the order of the text. A node of another kind is
/// its own only operand.
std::vector<std::uint32_t> operands_of(const std::vector<FilterNode>& nodes, std::uint32_t whole,
                                       FilterNode::Kind kind) {
  std::vector<std::uint32_t> found;
  std::vector<std::uint32_t> open = {whole};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (nodes[at].kind == kind) {
      open.insert(open.end(), {nodes[at].second, nodes[at].first});
    } else {
      found.push_back(at);
    }
  }
  return found;
}

/// Returns for each node whether its parent is the same operator, which then joins its operands.
std::vector<bool> joined_above(const std::vector<FilterNode>& nodes) {
  std::vector<bool> above(nodes.size());
  for (const FilterNode& node : nodes) {
    if (!is_joint(node)) continue;
    above[node.first] = nodes[node.first].kind == node.kind;
    above[node.second] = nodes[node.second].kind == node.kind;
  }
  return above;
}

/// Returns the encoded PartitionKey that all keys of the range have, as a point. Nothing if they may have several.
std::optional<KeyTexts> partition_of_all(const KeyRange& range) {
  if (range.lower.find('\0', format::kTableIdBytes) == std::string::npos) return std::nullopt;
  const std::string_view partition = format::partition_of(range.lower);
  const std::string end = format::end_of_prefix(partition);
  if (range.upper.empty() || range.upper > end) return std::nullopt;
  return KeyTexts{std::string(partition.substr(format::kTableIdBytes)), end.substr(format::kTableIdBytes), true};
}

/// The keys that the whole filter can match, and the conjuncts that the boxes express completely.
class BoxPlan {
 public:
  /// `partition` is the one that all keys have for which the plan is made.
  BoxPlan(const Filter& filter, const std::optional<KeyTexts>& partition)
      : filter_(filter),
        effort_(filter.comparison_count()),
        covers_(filter.nodes().size()),
        exact_(covers_.size()),
        rows_(covers_.size()) {
    const std::vector<bool> above = joined_above(filter.nodes());
    for (std::uint32_t i = 0; i < covers_.size(); ++i) {
      effort_.count(1);
      if (above[i]) continue;
      covers_[i] = cover_of_node(i);
      exact_[i] = covers_[i].is_exact;
      rows_[i] = covers_[i].names_row_keys;
    }
    if (!covers_.empty()) boxes_ = std::move(covers_.back().boxes);
    if (partition) narrow_to(*partition);
  }

  const std::vector<KeyBox>& boxes() const noexcept { return boxes_; }
  PlanEffort& effort() noexcept { return effort_; }

  Filter residual() const {
    if (filter_.matches_everything()) return filter_;
    // RowKeys narrow a range only within one partition.
    const bool rows_kept = std::all_of(boxes_.begin(), boxes_.end(), [](const KeyBox& box) {
      return box.partition_keys.is_point || box.row_keys.is_everything();
    });
    std::vector<std::uint32_t> left;
    const auto whole = static_cast<std::uint32_t>(filter_.nodes().size() - 1);
    for (const std::uint32_t node : operands_of(filter_.nodes(), whole, FilterNode::Kind::kAnd)) {
      const bool said = exact_[node] && (rows_kept || !rows_[node]);
      if (!said) left.push_back(node);
    }
    return filter_.all_of(left);
  }

 private:
  void narrow_to(const KeyTexts& partition) {
    std::vector<KeyBox> narrowed;
    for (KeyBox& box : boxes_) {
      const KeyTexts& keys = box.partition_keys;
      if (partition.lower < keys.lower || (keys.upper && partition.lower >= *keys.upper)) continue;
      box.partition_keys = partition;
      narrowed.push_back(std::move(box));
    }
    boxes_ = std::move(narrowed);
  }

  KeyCover cover_of_node(std::uint32_t at) {
    const FilterNode& node = filter_.nodes()[at];
    switch (node.kind) {
      case FilterNode::Kind::kComparison: {
        KeyCover cover = cover_of(filter_.comparisons()[node.first]);
        effort_.count(cover.boxes.size());
        return cover;
      }
      case FilterNode::Kind::kFalse: return {{}, true, false};
      case FilterNode::Kind::kTrue: return {{KeyBox()}, true, false};
      case FilterNode::Kind::kNot: return {{KeyBox()}, false, rows_[node.first]};
      case FilterNode::Kind::kAnd:
      case FilterNode::Kind::kOr: return joint_cover(at);
    }
    return {};
  }

  KeyCover joint_cover(std::uint32_t at) {
    const FilterNode::Kind kind = filter_.nodes()[at].kind;
    const std::vector<std::uint32_t> operands = operands_of(filter_.nodes(), at, kind);
    std::vector<KeyCover> covers;
    covers.reserve(operands.size());
    for (const std::uint32_t operand : operands) covers.push_back(std::exchange(covers_[operand], KeyCover()));
    if (kind == FilterNode::Kind::kOr) return union_of(std::move(covers), effort_);
    std::vector<bool> left_out;
    KeyCover both = intersection_of(std::move(covers), left_out, effort_);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (left_out[i]) exact_[operands[i]] = false;
    }
    return both;
  }

  const Filter& filter_;
  PlanEffort effort_;
  std::vector<KeyCover> covers_;
  std::vector<bool> exact_;
  std::vector<bool> rows_;
  std::vector<KeyBox> boxes_ = {KeyBox()};
};

/// RowKeys narrow a range only within one partition.
KeyRange range_of(const KeyBox& box, format::TableId table) {
  std::string prefix = format::encode_table(table);
  const bool one_partition = box.partition_keys.is_point;
  if (one_partition) prefix += box.partition_keys.lower;
  const KeyTexts& texts = one_partition ? box.row_keys : box.partition_keys;
  KeyRange range;
  range.lower = prefix + texts.lower;
  range.upper = texts.upper ? prefix + *texts.upper : format::end_of_prefix(prefix);
  range.is_point = one_partition && box.row_keys.is_point;
  return range;
}

// The texts are UTF-8, so encoding them cannot fail.

std::string row_prefix(format::TableId table, const ScanRange& range) {
  std::string prefix = *format::encode_partition(table, range.partition_key());
  const Status appended = format::append_text_prefix(prefix, range.from());
  return appended.ok() ? prefix : std::string();
}

KeyRange everything_with(std::string prefix) {
  std::string end = format::end_of_prefix(prefix);
  return {std::move(prefix), std::move(end), false};
}

}  // namespace

KeyRange keys_in(format::TableId table, const ScanRange& range) {
  switch (range.kind()) {
    case ScanRange::Kind::kTable: return everything_with(format::encode_table(table));
    case ScanRange::Kind::kPartition: return everything_with(*format::encode_partition(table, range.partition_key()));
    case ScanRange::Kind::kRowPrefix: return everything_with(row_prefix(table, range));
    case ScanRange::Kind::kRows:
      return {*format::encode_sort_key(table, range.partition_key(), range.from()),
              range.to() ? *format::encode_sort_key(table, range.partition_key(), *range.to())
                         : format::end_of_prefix(*format::encode_partition(table, range.partition_key())),
              false};
    case ScanRange::Kind::kPartitions:
      return {*format::encode_partition(table, range.from()),
              range.to() ? *format::encode_partition(table, *range.to())
                         : format::end_of_prefix(format::encode_table(table)),
              false};
  }
  return {};
}

bool is_one_of_no_key(const Filter& filter) {
  return filter.is_one_comparison() && !filter.names_keys() && filter.text_of(0) == filter.text();
}

KeyPlan plan_keys_taking(Filter& filter, format::TableId table, const KeyRange& within) {
  if (!is_one_of_no_key(filter) || within.lower >= within.upper) return plan_keys(filter, table, within);
  KeyPlan planned{{}, std::exchange(filter, Filter()), true, 1};
  planned.ranges.push_back(within);
  return planned;
}

KeyPlan plan_keys(const Filter& filter, format::TableId table, const KeyRange& within) {
  if (filter.matches_everything()) return {{within}, {}, false, 0};
  BoxPlan plan(filter, partition_of_all(within));
  std::vector<KeyRange> ranges;
  for (const KeyBox& box : plan.boxes()) {
    KeyRange range = range_of(box, table);
    range.lower = std::max(range.lower, within.lower);
    range.upper = std::min(range.upper, within.upper);
    if (range.lower < range.upper) ranges.push_back(std::move(range));
  }
  plan.effort().count(plan.boxes().size());
  std::sort(ranges.begin(), ranges.end(), [&plan](const KeyRange& a, const KeyRange& b) {
    plan.effort().count(1);
    return a.lower < b.lower;
  });
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
  planned.steps = plan.effort().spent();
  return planned;
}

}  // namespace varve
