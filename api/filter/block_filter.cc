// Owns: comparisons with ranges instead of values, and their combination (block_filter.h).
// Must never: recurse. The sender of a filter decides how deep it is.
#include "api/filter/block_filter.h"

#include <algorithm>
#include <compare>
#include <string_view>

#include "format/keys/sort_key.h"

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

/// Returns true if a text of the range may begin with `prefix`. The smallest text may be cut, too. It is then less than
/// the real one, so it excludes no text.
bool may_begin_with(const format::PropertyRange& range, std::string_view prefix) noexcept {
  const bool largest_reaches =
      format::compare_text(range.largest, prefix) >= 0 || (range.largest_is_cut && prefix.starts_with(range.largest));
  return largest_reaches && (range.smallest.starts_with(prefix) || format::compare_text(range.smallest, prefix) < 0);
}

bool may_hold_in(const Comparison& comparison, const format::PropertyRange& range) noexcept {
  switch (range.kind) {
    case format::PropertyRange::Kind::kUnknown: return true;
    case format::PropertyRange::Kind::kAbsent: return false;
    case format::PropertyRange::Kind::kRange: break;
  }
  const auto order_of_smallest = [&](const Value& literal) {
    return order_of_property({{}, range.type, range.smallest}, literal);
  };
  const auto order_of_last = [&](const Value& literal) { return order_of_largest(range, literal); };
  const bool is_text = range.type == format::PropertyType::kString;
  switch (comparison.kind) {
    case Comparison::Kind::kLiteral:
      return may_satisfy(order_of_smallest(comparison.literal), order_of_last(comparison.literal), comparison.compare);
    case Comparison::Kind::kList: return comparison.list->any_between(order_of_smallest, order_of_last);
    case Comparison::Kind::kStartsWith: return is_text && may_begin_with(range, comparison.text());
    case Comparison::Kind::kEndsWith:
    case Comparison::Kind::kContains:
    case Comparison::Kind::kEqualsIgnoringCase: return is_text;
    case Comparison::Kind::kProperty:
    case Comparison::Kind::kExists: break;
  }
  return true;
}

bool is_custom(Comparison::Subject subject) noexcept {
  return subject == Comparison::Subject::kCustom;
}

/// Returns true if statistics can say that the comparison is false.
bool may_be_denied(const Comparison& comparison) noexcept {
  switch (comparison.kind) {
    case Comparison::Kind::kProperty: return is_custom(comparison.subject) || is_custom(comparison.other_subject);
    case Comparison::Kind::kExists: return is_custom(comparison.subject);
    default: break;
  }
  return is_custom(comparison.subject) || comparison.subject == Comparison::Subject::kTimestamp;
}

}  // namespace

/// The filter is of use if it is false whenever all comparisons that statistics can deny are false.
BlockFilter::BlockFilter(const Filter& filter)
    : filter_(filter),
      is_of_use_(!may_match([](const Comparison& comparison) { return !may_be_denied(comparison); })) {}

/// Statistics never prove that a comparison is true for all entities: an entity may lack the property. So they never
/// exclude anything because of `not`.
template <typename MayHold>
bool BlockFilter::may_match(MayHold may_hold) {
  const std::vector<FilterNode>& nodes = filter_.nodes();
  if (filter_.is_one_comparison()) {  // The list needs memory.
    return may_hold(filter_.comparisons()[nodes.front().first]);
  }
  may_.resize(nodes.size());
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

/// Timestamp is a DateTime of each entity.
bool BlockFilter::may_hold_for(const Comparison& comparison, const BlockFacts& versions) noexcept {
  const auto order_of_smallest = [&](const Value& literal) { return order_of_date_time(versions.smallest, literal); };
  const auto order_of_largest = [&](const Value& literal) { return order_of_date_time(versions.largest, literal); };
  switch (comparison.kind) {
    case Comparison::Kind::kLiteral:
      return may_satisfy(order_of_smallest(comparison.literal), order_of_largest(comparison.literal),
                         comparison.compare);
    case Comparison::Kind::kList: return comparison.list->any_between(order_of_smallest, order_of_largest);
    case Comparison::Kind::kProperty:
    case Comparison::Kind::kExists: return true;
    default: return false;
  }
}

const format::PropertyRange* BlockFacts::find(std::string_view property) const noexcept {
  const auto named =
      std::find_if(ranges.begin(), ranges.end(), [&](const format::NamedRange& told) { return told.name == property; });
  return named == ranges.end() ? nullptr : &named->range;
}

bool BlockFilter::may_hold(const Comparison& comparison, const BlockFacts& facts) noexcept {
  if (comparison.kind == Comparison::Kind::kProperty && is_custom(comparison.other_subject)) {
    const format::PropertyRange* const other = facts.find(comparison.other_property);
    if (other != nullptr && other->kind == format::PropertyRange::Kind::kAbsent) return false;
  }
  switch (comparison.subject) {
    case Comparison::Subject::kPartitionKey:
    case Comparison::Subject::kRowKey: return true;
    case Comparison::Subject::kTimestamp: return may_hold_for(comparison, facts);
    case Comparison::Subject::kCustom: break;
  }
  const format::PropertyRange* const range = facts.find(comparison.property);
  return range == nullptr || may_hold_in(comparison, *range);
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

bool BlockFilter::may_want(const BlockFacts& facts) {
  if (!may_match([&](const Comparison& comparison) { return may_hold(comparison, facts); })) return false;
  return use_ == nullptr || use_->may_use(facts);
}

Result<bool> BlockFilter::may_want(const format::RunEntry& run) {
  if (Status read = read_ranges(run); !read.ok()) return read;
  return may_want(BlockFacts{ranges_, run.smallest_version, run.largest_version});
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
  return may_want(BlockFacts{ranges_, block.smallest_version, block.largest_version});
}

}  // namespace varve
