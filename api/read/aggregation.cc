// Owns: the doors of an aggregation, and what its figures are at the end (aggregate.h).
// Must never: let a caller add to an aggregation after an error.
#include <algorithm>
#include <compare>
#include <string>
#include <utility>

#include "api/filter/value_order.h"
#include "api/model/guarded.h"
#include "api/read/aggregation_state.h"
#include "varve/limits.h"

namespace varve {

Aggregation::Aggregation(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Aggregation::Aggregation(Aggregation&& other) noexcept = default;
Aggregation& Aggregation::operator=(Aggregation&& other) noexcept = default;
Aggregation::~Aggregation() = default;

Result<Aggregation> Aggregation::create(std::vector<Aggregate> figures, std::vector<GroupBy> group_by) {
  return guarded([&]() -> Result<Aggregation> {
    Result<std::unique_ptr<State>> state = State::create(figures, group_by);
    if (!state.ok()) return state.status();
    return Aggregation(*std::move(state));
  });
}

std::vector<std::string> Aggregation::properties() const {
  return state_->properties();
}

Status Aggregation::add(const EntityView& entity) {
  return guarded([&]() -> Status {
    if (Status begun = state_->begin(); !begun.ok()) return begun;
    Status added = state_->add(entity);
    if (added.ok()) state_->end();
    return added;
  });
}

Result<std::vector<AggregateRow>> Aggregation::rows() const {
  return guarded([&] { return state_->rows(); });
}

std::vector<std::string> Aggregation::State::properties() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  return names;
}

namespace {

constexpr double kTwoTo64 = 18446744073709551616.0;

Value int64_of(std::uint64_t count) noexcept {
  return static_cast<std::int64_t>(count);
}

bool comes_first(const std::optional<Value>& a, const std::optional<Value>& b) noexcept {
  if (!a || !b) return !a && b;
  return std::is_lt(order_of_groups(view_of(*a), view_of(*b)));
}

bool comes_first(const std::vector<std::optional<Value>>& a, const std::vector<std::optional<Value>>& b) noexcept {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (comes_first(a[i], b[i])) return true;
    if (comes_first(b[i], a[i])) return false;
  }
  return false;
}

}  // namespace

Result<std::optional<Value>> Aggregation::State::result_of(const Cell& cell, const Figure& figure) const {
  const double sum = static_cast<double>(cell.low) + static_cast<double>(cell.high) * kTwoTo64 + cell.of_doubles;
  switch (figure.kind) {
    case Aggregate::Kind::kCount: return std::optional<Value>(int64_of(cell.count));
    case Aggregate::Kind::kDistinct:
      return std::optional<Value>(int64_of(cell.distinct == nullptr ? 0 : cell.distinct->size()));
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax: return cell.extreme;
    case Aggregate::Kind::kAverage:
      if (cell.count == 0) return std::optional<Value>();
      return std::optional<Value>(sum / static_cast<double>(cell.count));
    case Aggregate::Kind::kSum: break;
  }
  if (cell.count == 0) return std::optional<Value>();
  if (cell.has_doubles) return std::optional<Value>(sum);
  if (cell.high == 0) return std::optional<Value>(cell.low);
  return Status::too_large("the sum of " + columns_[figure.column].name + " is out of the range of an Int64");
}

Result<std::vector<AggregateRow>> Aggregation::State::rows() const {
  if (is_broken_) return broken();
  std::vector<const Group*> ordered;
  ordered.reserve(groups_.size() + 1);
  for (const auto& [identity, group] : groups_) ordered.push_back(&group);
  Group nothing;
  nothing.cells.resize(figures_.size());
  if (groupings_.empty() && ordered.empty()) ordered.push_back(&nothing);
  std::sort(ordered.begin(), ordered.end(),
            [](const Group* a, const Group* b) { return comes_first(a->values, b->values); });
  std::vector<AggregateRow> rows;
  rows.reserve(ordered.size());
  for (const Group* group : ordered) {
    AggregateRow& row = rows.emplace_back();
    row.group = group->values;
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      Result<std::optional<Value>> figure = result_of(group->cells[i], figures_[i]);
      if (!figure.ok()) return figure.status();
      row.figures.push_back(*std::move(figure));
    }
  }
  return rows;
}

}  // namespace varve
