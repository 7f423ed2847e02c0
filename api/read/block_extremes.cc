// Owns: which blocks can change the smallest and largest values of an aggregation (aggregation_state.h).
// Must never: pass a block with a better value, or with one that does not compare with the best one.
//
// Statistics cover all puts, also those that were overwritten, deleted or have ended. So what they say holds for the
// entities that a scan sees, and only excludes blocks. The best value is that of an entity that was seen.
#include <algorithm>
#include <compare>
#include <string_view>

#include "api/filter/value_order.h"
#include "api/model/entity_codec.h"
#include "api/read/aggregation_state.h"

namespace varve {
namespace {

bool is_extreme(Aggregate::Kind kind) noexcept {
  return kind == Aggregate::Kind::kMin || kind == Aggregate::Kind::kMax;
}

/// Returns whether a value of the property may come before `best` in the order, or does not compare with it.
bool may_be_better(const ValueView& end, const ValueView& best, bool is_min) noexcept {
  if (!are_comparable(property_type_of(end), property_type_of(best))) return true;
  const std::partial_ordering order = order_of_values(end, best);
  return is_min ? !std::is_gteq(order) : !std::is_lteq(order);
}

bool may_be_better(const format::PropertyRange& range, const ValueView& best, bool is_min) noexcept {
  ValueView end;
  view_value({{}, range.type, is_min ? range.smallest : range.largest}, end);
  if (may_be_better(end, best, is_min)) return true;
  if (is_min || !range.largest_is_cut) return false;  // A smallest text that was cut is less than the real one.
  const auto* const text = std::get_if<std::string_view>(&best);
  return text == nullptr || text->starts_with(range.largest);
}

}  // namespace

BlockUse* Aggregation::State::block_use() noexcept {
  const bool passes = groupings_.empty() && std::all_of(figures_.begin(), figures_.end(), [this](const Figure& figure) {
                        if (!is_extreme(figure.kind)) return false;
                        const Comparison::Subject subject = columns_[figure.column].subject;
                        return subject == Comparison::Subject::kCustom || subject == Comparison::Subject::kTimestamp;
                      });
  return passes ? this : nullptr;
}

bool Aggregation::State::may_use(const BlockFacts& facts) noexcept {
  if (groups_.empty()) return true;
  const std::vector<Cell>& cells = groups_.begin()->second.cells;  // There are no groups, so all is in one.
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    if (may_change(cells[i], figures_[i], facts)) return true;
  }
  return false;
}

bool Aggregation::State::may_change(const Cell& cell, const Figure& figure, const BlockFacts& facts) const noexcept {
  const bool is_min = figure.kind == Aggregate::Kind::kMin;
  const Column& column = columns_[figure.column];
  if (column.subject == Comparison::Subject::kTimestamp) {
    const ValueView end = DateTime{is_min ? facts.smallest : facts.largest};
    return !cell.extreme || may_be_better(end, view_of(*cell.extreme), is_min);
  }
  const format::PropertyRange* const range = facts.find(column.name);
  if (range == nullptr) return true;
  switch (range->kind) {
    case format::PropertyRange::Kind::kUnknown: return true;
    case format::PropertyRange::Kind::kAbsent: return false;
    case format::PropertyRange::Kind::kRange: break;
  }
  return !cell.extreme || may_be_better(*range, view_of(*cell.extreme), is_min);
}

}  // namespace varve
