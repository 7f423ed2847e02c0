// Owns: the merge of the types of an index, and its end (index_order.h).
// Must never: compare the rest of a text that was cut.
#include "api/read/index_order.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
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

/// Returns the value that an entry has in a component. If it was cut, that is the beginning of the entity's value.
SortValue value_of_entry(const format::IndexValue& entry) noexcept {
  format::PropertyView property;
  property.type = entry.type;
  property.value = entry.value;
  if (entry.was_cut && entry.type == format::PropertyType::kString) {
    while (!format::is_valid_utf8(property.value)) property.value.remove_suffix(1);
  }
  return sort_value_of(property);
}

/// Returns a negative number if the first value comes before the second one in the order, 0 if they are at one place.
int compare_in(const IndexOrder& order, const SortValue& a, const SortValue& b) noexcept {
  return order.is_descending ? compare_sort_values(b, a) : compare_sort_values(a, b);
}

/// Returns whether the place comes after that of the entity. The order has no component after the index's.
bool is_place_after(const IndexOrder& order, const SortValue& value, std::string_view key,
                    const OrderedEntity& entity) noexcept {
  const int compared = compare_in(order, value, entity.values[order.component]);
  return compared > 0 || (compared == 0 && key > entity.sort_key);
}

/// A range of the index, and its present entry.
class Source {
 public:
  Source(engine::Cursor cursor, const IndexOrder& order, format::TableId table)
      : cursor_(std::move(cursor)), order_(&order), table_(table) {
    cursor_.leave_values();
  }

  /// Moves to the first entry. Where the order of keys allows it, passes entries of the value of `after` up to its key.
  Status begin(const OrderedEntity* after) {
    order_->plan.is_reversed ? cursor_.seek_to_last() : cursor_.seek_to_first();
    Status loaded = load();
    if (!loaded.ok() || !is_valid() || after == nullptr || !has_place() || !order_->plan.is_in_key_order) return loaded;
    if (compare_in(*order_, value_, after->values[order_->component]) != 0) return loaded;
    std::string_view components = format::partition_of(cursor_.key());
    components.remove_suffix(1);  // the end of the part
    cursor_.seek(format::index_bound(components, after->sort_key));
    return load();
  }
  Status next() {
    order_->plan.is_reversed ? cursor_.previous() : cursor_.next();
    return load();
  }
  bool is_valid() const noexcept { return cursor_.valid(); }
  /// Returns the key of the entity. next() invalidates it.
  std::string& key() noexcept { return key_; }
  /// Returns the value that orders the entry, and what it was made of.
  const SortValue& value() const noexcept { return value_; }
  const format::IndexValue& entry() const noexcept { return entry_; }
  /// Returns whether the value and the key are the entity's place in the order.
  bool has_place() const noexcept { return order_->is_last && !entry_.was_cut; }

  /// Returns whether the entry comes before that of another range.
  bool is_before(const Source& other) const noexcept {
    const int compared = compare_in(*order_, value_, other.value_);
    return compared < 0 || (compared == 0 && key_ < other.key_);
  }
  /// Returns whether this entity and those of all entries that follow certainly come after another one.
  bool is_after(const OrderedEntity& entity) const noexcept {
    const SortValue& value = entity.values[order_->component];
    const int compared = compare_in(*order_, value_, value);
    if (compared == 0) return has_place() && order_->plan.is_in_key_order && key_ > entity.sort_key;
    // The entity's value is not before its beginning, in ascending order.
    const bool may_be_before =
        order_->is_descending && entry_.was_cut && value_.of == value.of && value.bytes.starts_with(value_.bytes);
    return compared > 0 && !may_be_before;
  }

 private:
  Status load() {
    if (!cursor_.valid()) return cursor_.status();
    Result<std::vector<format::IndexValue>> components = format::decode_index_components(cursor_.key());
    if (!components.ok()) return components.status();
    if (components->size() <= order_->plan.component) return Status::corruption("index key: it has too few components");
    Result<std::string> key = format::entity_key_of(cursor_.key(), table_);
    if (!key.ok()) return key.status();
    key_ = *std::move(key);
    entry_ = std::move((*components)[order_->plan.component]);
    value_ = value_of_entry(entry_);
    return Status();
  }

  engine::Cursor cursor_;
  const IndexOrder* order_;
  format::TableId table_;
  std::string key_;
  format::IndexValue entry_;
  SortValue value_;  // points into entry_
};

/// The walk of one page.
class OrderedWalk {
 public:
  OrderedWalk(const IndexedScan& scan, const IndexOrder& order, PageScan& page, FirstEntities& first)
      : scan_(scan), order_(order), page_(page), first_(first), entries_left_(kIndexEntriesMax + 4 * first.count()) {}

  Status begin() {
    sources_.reserve(order_.plan.ranges.size());
    for (const KeyRange& range : order_.plan.ranges) {
      sources_.emplace_back(scan_.table.view.cursor(range.lower, range.upper, &page_.read_cost()), order_,
                            scan_.table.id);
      if (Status begun = sources_.back().begin(first_.after()); !begun.ok()) return begun;
      if (!sources_.back().is_valid()) sources_.pop_back();  // A cursor holds blocks, and most types have no entry.
    }
    return Status();
  }

  /// Collects the next keys, and offers their entities. Returns whether entries may be left.
  Result<bool> go_on() {
    const std::uint64_t missing = first_.count() - std::min(first_.count(), first_.size());
    const std::uint64_t wanted = missing == 0 ? kLookedUpAtOnce : std::min<std::uint64_t>(missing, kLookedUpAtOnce);
    std::vector<std::string> keys;
    while (keys.size() < wanted) {
      Source* const source = nearest();
      if (!tied_.empty() && (source == nullptr || !is_tied(*source))) {
        take_tied(keys, wanted);
      } else if (source == nullptr || is_exhausted()) {
        break;
      } else if (Status taken = take(*source, keys); !taken.ok()) {
        return taken;
      }
    }
    const std::vector<std::string_view> points(keys.begin(), keys.end());
    if (Status offered = page_.offer_points(points); !offered.ok()) return offered;
    return !is_exhausted() && (!tied_.empty() || nearest() != nullptr);
  }

  bool is_exhausted() const noexcept { return entries_left_ == 0; }
  /// Ends the page before the first entity that is not certainly before all that are left. Returns false if no entity is.
  bool end_early() {
    const auto least = std::min_element(tied_.begin(), tied_.end());
    const auto is_before_rest = [&](const OrderedEntity& entity) {
      if (least != tied_.end() && !is_place_after(order_, value_of_entry(tied_entry_), *least, entity)) return false;
      return std::all_of(sources_.begin(), sources_.end(),
                         [&](const Source& source) { return !source.is_valid() || source.is_after(entity); });
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
  /// Returns the source whose entry comes first. Null if no entity of theirs that is left belongs to the page.
  Source* nearest() noexcept {
    Source* found = nullptr;
    for (Source& source : sources_) {
      if (!source.is_valid() || (first_.is_closed() && source.is_after(first_.last()))) continue;
      if (found == nullptr || source.is_before(*found)) found = &source;
    }
    return found;
  }

  bool is_tied(const Source& source) const noexcept {
    return source.has_place() && compare_sort_values(source.value(), value_of_entry(tied_entry_)) == 0;
  }

  /// Takes the source's entry. If others may come before it, whose value is the same, it waits for them.
  Status take(Source& source, std::vector<std::string>& keys) {
    --entries_left_;
    const OrderedEntity* const after = first_.after();
    const bool is_before_page =
        source.has_place() && after != nullptr && !is_place_after(order_, source.value(), source.key(), *after);
    if (!is_before_page && holds_key(scan_, source.key())) {
      const bool waits = source.has_place() && !order_.plan.is_in_key_order && tied_.size() < kIndexEntriesMax;
      if (waits && tied_.empty()) tied_entry_ = source.entry();
      (waits ? tied_ : keys).push_back(std::move(source.key()));
    }
    return source.next();
  }

  /// Takes the first of the tied entities that belong to the page.
  void take_tied(std::vector<std::string>& keys, std::uint64_t wanted) {
    std::sort(tied_.begin(), tied_.end(), std::greater<>());
    for (; !tied_.empty() && keys.size() < wanted; tied_.pop_back()) {
      if (first_.is_closed() && is_place_after(order_, value_of_entry(tied_entry_), tied_.back(), first_.last())) {
        first_.leave_out_rest();
        tied_.clear();
        return;
      }
      keys.push_back(std::move(tied_.back()));
    }
  }

  const IndexedScan& scan_;
  const IndexOrder& order_;
  PageScan& page_;
  FirstEntities& first_;
  std::vector<Source> sources_;
  /// Keys of entities with one value, which was not cut, and the entry of one of them.
  std::vector<std::string> tied_;
  format::IndexValue tied_entry_;
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
    if (!plan) continue;
    const bool is_last = component + 1 == components.size();
    if (best && best->plan.component >= plan->component) {
      // The order of keys helps only if the entries of one value need no further order.
      const bool is_alike = best->plan.component == plan->component;
      if (!is_alike || !is_last || best->plan.is_in_key_order || !plan->is_in_key_order) continue;
    }
    best = IndexOrder{index.name, *std::move(plan), component, ordering.descending, is_last};
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
