// Owns: the merge of the types of an index, and its end (index_order.h).
// Must never: compare the rest of a text that was cut.
#include "api/read/index_order.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/read/cursor.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

constexpr std::size_t kLookedUpAtOnce = 64;
constexpr std::initializer_list<format::PropertyType> kOrderedTypes = {
    format::PropertyType::kBoolean, format::PropertyType::kDouble,   format::PropertyType::kInt32,
    format::PropertyType::kInt64,   format::PropertyType::kDateTime, format::PropertyType::kGuid,
    format::PropertyType::kString,  format::PropertyType::kBinary};

/// Returns the value of a position as a literal.
Value literal_of(const SortValue& value) {
  switch (value.of) {
    case SortValue::Of::kBoolean: return Value(value.integer != 0);
    case SortValue::Of::kDateTime:  // A token may have a time that is before all others.
      return Value(DateTime{static_cast<std::uint64_t>(std::max<std::int64_t>(value.integer, 0))});
    case SortValue::Of::kNumber: {
      if (value.is_double) return Value(value.real);
      const auto narrow = static_cast<std::int32_t>(value.integer);
      return narrow == value.integer ? Value(narrow) : Value(value.integer);
    }
    case SortValue::Of::kGuid: {
      Guid guid;
      std::copy_n(value.bytes.begin(), std::min(value.bytes.size(), guid.bytes.size()), guid.bytes.begin());
      return Value(guid);
    }
    case SortValue::Of::kBinary: return Value(Binary{std::string(value.bytes)});
    default: return Value(std::string(value.bytes));
  }
}

/// Returns the types whose values may follow the position.
std::vector<IndexedOrder::Type> types_after(const SortValue* position, bool is_descending) {
  std::vector<IndexedOrder::Type> types;
  for (const format::PropertyType type : kOrderedTypes) {
    const SortValue::Of of = sorted_as(type);
    if (position != nullptr && (is_descending ? of > position->of : of < position->of)) continue;
    types.push_back({type, position != nullptr && of == position->of});
  }
  return types;
}

/// Returns whether the order puts the position's value and the literal at the same place.
bool is_at(const SortValue& position, const Value& literal) {
  if (position.of == SortValue::Of::kAbsent || position.of == SortValue::Of::kLargeValue) return false;
  if (position.of != SortValue::Of::kNumber) return literal_of(position) == literal;
  SortValue number;
  number.of = SortValue::Of::kNumber;
  if (const auto* const real = literal.get_if<double>()) {
    number.is_double = true;
    number.real = *real;
  } else if (const auto* const narrow = literal.get_if<std::int32_t>()) {
    number.integer = *narrow;
  } else if (const auto* const wide = literal.get_if<std::int64_t>()) {
    number.integer = *wide;
  } else {
    return false;
  }
  return compare_sort_values(position, number) == 0;
}

/// A range of the index, and its present entry.
class Source {
 public:
  Source(engine::Cursor cursor, const OrderPlan& plan) : cursor_(std::move(cursor)), plan_(&plan) {
    cursor_.leave_values();
  }

  Status begin() {
    plan_->is_reversed ? cursor_.seek_to_last() : cursor_.seek_to_first();
    return load();
  }
  Status next() {
    plan_->is_reversed ? cursor_.previous() : cursor_.next();
    return load();
  }
  bool is_valid() const noexcept { return cursor_.valid(); }
  std::string_view key() const { return cursor_.key(); }
  /// Returns the value that orders the entry. If it was cut, it is the beginning of the entity's value.
  const SortValue& value() const noexcept { return value_; }

  /// Returns whether the entity certainly comes after one with the value `last`.
  bool is_after(const SortValue& last, bool is_descending) const noexcept {
    const int compared = compare_sort_values(value_, last);
    if (!is_descending) return compared > 0;  // The entity's value is not before its beginning.
    const bool may_be_before = was_cut_ && value_.of == last.of && last.bytes.starts_with(value_.bytes);
    return compared < 0 && !may_be_before;
  }

 private:
  Status load() {
    if (!cursor_.valid()) return cursor_.status();
    Result<format::IndexKey> key = format::decode_index_key(cursor_.key());
    if (!key.ok()) return key.status();
    if (key->components.size() <= plan_->component) return Status::corruption("index key: it has too few components");
    entry_ = std::move(key->components[plan_->component]);
    was_cut_ = entry_.was_cut;
    format::PropertyView property;
    property.type = entry_.type;
    property.value = entry_.value;
    if (was_cut_ && entry_.type == format::PropertyType::kString) {
      while (!format::is_valid_utf8(property.value)) property.value.remove_suffix(1);
    }
    value_ = sort_value_of(property);
    return Status();
  }

  engine::Cursor cursor_;
  const OrderPlan* plan_;
  format::IndexValue entry_;
  SortValue value_;
  bool was_cut_ = false;
};

/// The walk of one page.
class OrderedWalk {
 public:
  OrderedWalk(const IndexedScan& scan, const IndexOrder& order, PageScan& page, FirstEntities& first)
      : scan_(scan), order_(order), page_(page), first_(first), entries_left_(kIndexEntriesMax + 4 * first.count()) {}

  Status begin() {
    sources_.reserve(order_.plan.ranges.size());
    for (const KeyRange& range : order_.plan.ranges) {
      sources_.emplace_back(scan_.table.view.cursor(range.lower, range.upper, &page_.read_cost()), order_.plan);
      if (Status begun = sources_.back().begin(); !begun.ok()) return begun;
      if (!sources_.back().is_valid()) sources_.pop_back();  // A cursor holds blocks, and most types have no entry.
    }
    return Status();
  }

  /// Collects the next keys, and offers their entities. Returns whether entries may be left.
  Result<bool> go_on() {
    std::vector<std::string> keys;
    const std::uint64_t missing = first_.count() - std::min(first_.count(), first_.size());
    const std::uint64_t wanted = std::clamp<std::uint64_t>(missing, 1, kLookedUpAtOnce);
    Source* source = nearest();
    for (; source != nullptr && keys.size() < wanted && entries_left_ > 0; source = nearest()) {
      --entries_left_;
      Result<std::string> key = format::entity_key_of(source->key(), scan_.table.id);
      if (!key.ok()) return key.status();
      if (holds_key(scan_, *key)) keys.push_back(*std::move(key));
      if (Status moved = source->next(); !moved.ok()) return moved;
    }
    const std::vector<std::string_view> points(keys.begin(), keys.end());
    if (Status offered = page_.offer_points(points); !offered.ok()) return offered;
    return source != nullptr && entries_left_ > 0;
  }

  bool is_exhausted() const noexcept { return entries_left_ == 0; }
  /// Ends the page before the first entity that is not certainly before all that are left. Returns false if no entity is.
  bool end_early() {
    const auto is_before_rest = [&](const OrderedEntity& entity) {
      return std::all_of(sources_.begin(), sources_.end(), [&](const Source& source) {
        return !source.is_valid() || source.is_after(entity.values[order_.component], order_.is_descending);
      });
    };
    const auto& found = first_.entities();
    if (std::none_of(found.begin(), found.end(), [&](const auto& entity) { return is_before_rest(*entity); })) {
      return false;
    }
    while (!is_before_rest(first_.last())) first_.leave_out_last();
    first_.leave_out_rest();
    return true;
  }
  /// Returns whether every entry was read.
  bool has_read_all() const noexcept {
    return std::none_of(sources_.begin(), sources_.end(), [](const Source& source) { return source.is_valid(); });
  }

 private:
  /// Returns the source whose entry comes first. Null if no entity that is left belongs to the page.
  Source* nearest() noexcept {
    Source* found = nullptr;
    for (Source& source : sources_) {
      if (!source.is_valid()) continue;
      if (first_.is_closed() && source.is_after(first_.last().values[order_.component], order_.is_descending)) continue;
      const int compared = found == nullptr ? 0 : compare_sort_values(source.value(), found->value());
      if (found == nullptr || (order_.is_descending ? compared > 0 : compared < 0)) found = &source;
    }
    return found;
  }

  const IndexedScan& scan_;
  const IndexOrder& order_;
  PageScan& page_;
  FirstEntities& first_;
  std::vector<Source> sources_;
  std::uint64_t entries_left_;
};

}  // namespace

Result<std::optional<IndexOrder>> index_of_order(const IndexedScan& scan, const EntityOrder& order,
                                                 const OrderedPosition& after) {
  const std::vector<EntityOrder::Component>& components = order.components();
  std::optional<IndexOrder> best;
  std::size_t component = 0;
  for (; component < components.size() && components[component].may_have_index(); ++component) {
    const Value* const fixed = fixed_value(scan.filter, components[component].subject, components[component].property);
    if (fixed == nullptr) break;
    // The token of another filter is before or after all entities that this one matches.
    if (after.last && !is_at(after.last->values[component], *fixed)) return best;
  }
  if (component == components.size() || !components[component].may_have_index()) return best;
  const EntityOrder::Component& ordering = components[component];
  const SortValue* const position = after.last ? &after.last->values[component] : nullptr;
  if (position != nullptr && position->of == SortValue::Of::kAbsent) return best;
  const std::optional<Value> literal = position != nullptr ? std::optional(literal_of(*position)) : std::nullopt;
  const IndexedOrder wanted{ordering.subject, ordering.property, ordering.descending,
                            types_after(position, ordering.descending), literal ? &*literal : nullptr};
  for (const TableIndex& index : scan.indexes.all) {
    if (index.state != IndexState::kReady) continue;
    std::optional<OrderPlan> plan =
        plan_index_order(scan.filter, index.id, index.definition, has_large_values(scan.table.id), wanted);
    if (!plan || (best && best->plan.component >= plan->component)) continue;
    best = IndexOrder{index.name, *std::move(plan), component, ordering.descending};
  }
  return best;
}

Result<bool> offer_in_order(const IndexedScan& scan, const IndexOrder& order, PageScan& page, FirstEntities& first,
                            const OrderReading& reading) {
  OrderedWalk walk(scan, order, page, first);
  if (Status begun = walk.begin(); !begun.ok()) return begun;
  for (;;) {
    const Result<bool> goes_on = walk.go_on();
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on || reading.stop.stop_requested()) break;
    if (reading.clock.monotonic() >= reading.deadline && walk.end_early()) return true;
  }
  if (walk.is_exhausted() || reading.stop.stop_requested()) return false;
  if (!walk.has_read_all()) {
    first.leave_out_rest();
    return true;
  }
  if (order.plan.has_all) return true;
  if (!first.is_closed()) return false;
  first.leave_out_rest();  // Entities that lack the property come last.
  return true;
}

}  // namespace varve
