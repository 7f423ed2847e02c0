// Owns: comparisons with ranges instead of values, and their combination (block_filter.h).
// Must never: recurse. The sender of a filter decides how deep it is.
#include "api/filter/block_filter.h"

#include <algorithm>
#include <compare>
#include <string_view>

namespace varve {

namespace {

using Order = std::partial_ordering;

/// Returns true if some value of a range may satisfy the comparison. `smallest` and `largest` are the orders of the
/// range's ends to the literal. If an order does not exist because the literal is NaN, the answer is true.
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

/// Returns the order of the largest value. If that text was cut, any text with this prefix may follow it.
Order order_of_largest(const format::PropertyRange& range, const Value& literal) noexcept {
  if (range.largest_is_cut) {
    const std::string* const text = literal.get_if<std::string>();
    if (text != nullptr && text->starts_with(range.largest)) return Order::greater;
  }
  return order_of_property({{}, range.type, range.largest}, literal);
}

bool may_hold_in(const Comparison& comparison, const format::PropertyRange& range) noexcept {
  switch (range.kind) {
    case format::PropertyRange::Kind::kUnknown: return true;
    case format::PropertyRange::Kind::kAbsent: return false;
    case format::PropertyRange::Kind::kRange: break;
  }
  return may_satisfy(order_of_property({{}, range.type, range.smallest}, comparison.literal),
                     order_of_largest(range, comparison.literal), comparison.compare);
}

}  // namespace

/// The filter is of use if it is false whenever all comparisons except those of keys are false.
BlockFilter::BlockFilter(const Filter& filter)
    : filter_(filter), may_(filter.nodes().size()), is_of_use_(!may_match([](const Comparison& comparison) {
        return comparison.subject == Comparison::Subject::kPartitionKey ||
               comparison.subject == Comparison::Subject::kRowKey;
      })) {}

/// Statistics never prove that a comparison is true for all entities: an entity may lack the property. So they never
/// exclude anything because of `not`.
template <typename MayHold>
bool BlockFilter::may_match(MayHold may_hold) {
  const std::vector<FilterNode>& nodes = filter_.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const FilterNode& node = nodes[i];
    const May first = node.kind >= FilterNode::Kind::kNot ? may_[node.first] : May();
    switch (node.kind) {
      case FilterNode::Kind::kComparison: may_[i] = {may_hold(filter_.comparisons()[node.first]), true}; break;
      case FilterNode::Kind::kTrue: may_[i] = {true, false}; break;
      case FilterNode::Kind::kFalse: may_[i] = {false, true}; break;
      case FilterNode::Kind::kNot: may_[i] = {first.fail, first.hold}; break;
      case FilterNode::Kind::kAnd:
        may_[i] = {first.hold && may_[node.second].hold, first.fail || may_[node.second].fail};
        break;
      case FilterNode::Kind::kOr:
        may_[i] = {first.hold || may_[node.second].hold, first.fail && may_[node.second].fail};
        break;
    }
  }
  return nodes.empty() || may_.back().hold;
}

bool BlockFilter::may_hold(const Comparison& comparison, const Versions& versions) const noexcept {
  switch (comparison.subject) {
    case Comparison::Subject::kPartitionKey:
    case Comparison::Subject::kRowKey: return true;
    case Comparison::Subject::kTimestamp:
      return may_satisfy(order_of_date_time(versions.smallest, comparison.literal),
                         order_of_date_time(versions.largest, comparison.literal), comparison.compare);
    case Comparison::Subject::kCustom: break;
  }
  const auto named = std::find_if(ranges_.begin(), ranges_.end(),
                                  [&](const format::NamedRange& told) { return told.name == comparison.property; });
  return named == ranges_.end() || may_hold_in(comparison, named->range);
}

Status BlockFilter::read_ranges(const format::RunEntry& run) {
  ranges_.clear();
  for (format::RunStatistics told(run.statistics); !told.at_end();) {
    const Result<format::NamedRange> named = told.next();
    if (!named.ok()) return named.status();
    ranges_.push_back(*named);
  }
  return Status();
}

Result<bool> BlockFilter::may_want(const format::RunEntry& run) {
  if (Status read = read_ranges(run); !read.ok()) return read;
  const Versions versions{run.smallest_version, run.largest_version};
  return may_match([&](const Comparison& comparison) { return may_hold(comparison, versions); });
}

/// Statistics of the run hold for each of its blocks; statistics of the block are narrower.
Result<bool> BlockFilter::may_want(const format::RunEntry& run, const format::BlockEntry& block) {
  if (Status read = read_ranges(run); !read.ok()) return read;
  format::BlockStatistics told(block.statistics);
  for (format::NamedRange& named : ranges_) {
    if (!named.is_in_blocks) continue;
    const Result<format::PropertyRange> range = told.next();
    if (!range.ok()) return range.status();
    if (range->kind != format::PropertyRange::Kind::kUnknown) named.range = *range;
  }
  const Versions versions{block.smallest_version, block.largest_version};
  return may_match([&](const Comparison& comparison) { return may_hold(comparison, versions); });
}

}  // namespace varve
