// Owns: comparisons with ranges in the place of values, and their joining (block_filter.h).
// Must never: recurse; a filter is as deep as whoever sent it likes.
#include "api/filter/block_filter.h"

#include <algorithm>
#include <compare>
#include <string_view>

#include "format/block_statistics.h"

namespace varve {

struct BlockFilter::Told {
  format::CommitVersion smallest_version = 0;
  format::CommitVersion largest_version = 0;
  std::vector<format::NamedRange> ranges;

  format::PropertyRange range_of(std::string_view property) const noexcept {
    const auto found =
        std::find_if(ranges.begin(), ranges.end(), [&](const auto& named) { return named.name == property; });
    return found == ranges.end() ? format::PropertyRange() : found->range;
  }
};

namespace {

using Order = std::partial_ordering;

/// Whether a value may be in such an order to the literal, of which the smallest and the largest are in these. An order
/// that there is none of, of a literal that is no number, says nothing.
bool may_satisfy(Order smallest, Order largest, CompareOperator compare) noexcept {
  if (smallest == Order::unordered || largest == Order::unordered) return true;
  switch (compare) {
    case CompareOperator::kEqual: return std::is_lteq(smallest) && std::is_gteq(largest);
    case CompareOperator::kNotEqual: return std::is_neq(smallest) || std::is_neq(largest);
    case CompareOperator::kGreater: return std::is_gt(largest);
    case CompareOperator::kGreaterOrEqual: return std::is_gteq(largest);
    case CompareOperator::kLess: return std::is_lt(smallest);
    case CompareOperator::kLessOrEqual: return std::is_lteq(smallest);
  }
  return true;
}

/// Of a text that was cut: whatever begins with it may follow it.
Order order_of_largest(const format::PropertyRange& range, const Value& literal) noexcept {
  if (range.largest_is_cut) {
    const std::string* const text = literal.get_if<std::string>();
    if (text != nullptr && text->starts_with(range.largest)) return Order::greater;
  }
  return order_of_property({{}, range.type, range.largest}, literal);
}

bool may_hold(const Comparison& comparison, const format::PropertyRange& range) noexcept {
  switch (range.kind) {
    case format::PropertyRange::Kind::kUnknown: return true;
    case format::PropertyRange::Kind::kAbsent: return false;
    case format::PropertyRange::Kind::kRange: break;
  }
  return may_satisfy(order_of_property({{}, range.type, range.smallest}, comparison.literal),
                     order_of_largest(range, comparison.literal), comparison.compare);
}

Result<std::vector<format::NamedRange>> ranges_of_run(const format::RunEntry& run) {
  std::vector<format::NamedRange> ranges;
  for (format::RunStatistics told(run.statistics); !told.at_end();) {
    const Result<format::NamedRange> named = told.next();
    if (!named.ok()) return named.status();
    ranges.push_back(*named);
  }
  return ranges;
}

}  // namespace

/// A node holds or not; both may be, of different entities. What speaks for `not` is seldom told: an entity without the
/// property is among those that match it.
bool BlockFilter::may_match(const Told& told) const {
  const std::vector<FilterNode>& nodes = filter_.nodes();
  struct May {
    bool hold = true;
    bool fail = true;
  };
  std::vector<May> may(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const FilterNode& node = nodes[i];
    switch (node.kind) {
      case FilterNode::Kind::kTrue: may[i] = {true, false}; break;
      case FilterNode::Kind::kFalse: may[i] = {false, true}; break;
      case FilterNode::Kind::kNot: may[i] = {may[node.first].fail, may[node.first].hold}; break;
      case FilterNode::Kind::kAnd:
        may[i] = {may[node.first].hold && may[node.second].hold, may[node.first].fail || may[node.second].fail};
        break;
      case FilterNode::Kind::kOr:
        may[i] = {may[node.first].hold || may[node.second].hold, may[node.first].fail && may[node.second].fail};
        break;
      case FilterNode::Kind::kComparison: {
        const Comparison& comparison = filter_.comparisons()[node.first];
        if (comparison.subject == Comparison::Subject::kTimestamp) {
          may[i].hold = may_satisfy(order_of_date_time(told.smallest_version, comparison.literal),
                                    order_of_date_time(told.largest_version, comparison.literal), comparison.compare);
        } else if (comparison.subject == Comparison::Subject::kCustom) {
          may[i].hold = may_hold(comparison, told.range_of(comparison.property));
        }
      }
    }
  }
  return nodes.empty() || may.back().hold;
}

Result<bool> BlockFilter::may_want(const format::RunEntry& run) const {
  Result<std::vector<format::NamedRange>> ranges = ranges_of_run(run);
  if (!ranges.ok()) return ranges.status();
  return may_match({run.smallest_version, run.largest_version, *std::move(ranges)});
}

/// What is told of the run is true of each block too; what is told of the block says more.
Result<bool> BlockFilter::may_want(const format::RunEntry& run, const format::BlockEntry& block) const {
  Result<std::vector<format::NamedRange>> ranges = ranges_of_run(run);
  if (!ranges.ok()) return ranges.status();
  format::BlockStatistics told(block.statistics);
  for (format::NamedRange& named : *ranges) {
    if (!named.is_in_blocks) continue;
    const Result<format::PropertyRange> range = told.next();
    if (!range.ok()) return range.status();
    if (range->kind != format::PropertyRange::Kind::kUnknown) named.range = *range;
  }
  return may_match({block.smallest_version, block.largest_version, *std::move(ranges)});
}

}  // namespace varve
