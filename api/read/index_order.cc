// Owns: the merge of the types of an index, and its end (index_order.h).
// Must never: compare the rest of a text that was cut.
#include "api/read/index_order.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/read/cursor.h"
#include "format/bytes/bytes.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

constexpr std::size_t kLookedUpAtOnce = 64;
/// So many entries of one value are read before they are divided by the types of the next component.
constexpr std::size_t kUndividedMax = 8;
/// Each source has a cursor, which holds blocks.
constexpr std::size_t kSourcesMax = 256;
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
  if (position != nullptr && position->of == SortValue::Of::kAbsent) return types;  // They come last in any order.
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

/// Returns the values that an entry has in the components of the order that the index has. They point into the entry.
EntityOrder::Values values_of_entry(const IndexOrder& order, const std::vector<format::IndexValue>& entry) noexcept {
  EntityOrder::Values values;
  for (std::size_t i = 0; i < order.plan.components.size(); ++i) {
    values[order.component + i] = value_of_entry(entry[order.plan.component + i]);
  }
  return values;
}

/// Compares values in the first `count` components of the order that the index has. Returns a negative number if a comes before
/// b, 0 if they are at one place.
int compare_in(const IndexOrder& order, std::size_t count, const EntityOrder::Values& a,
               const EntityOrder::Values& b) noexcept {
  for (std::size_t i = order.component; i < order.component + count; ++i) {
    if (const int compared = order.of->components()[i].compare(a[i], b[i]); compared != 0) return compared;
  }
  return 0;
}
int compare_all_in(const IndexOrder& order, const EntityOrder::Values& a, const EntityOrder::Values& b) noexcept {
  return compare_in(order, order.plan.components.size(), a, b);
}

/// Returns whether the place comes after that of the entity. IndexOrder::is_whole is true.
bool is_place_after(const IndexOrder& order, const EntityOrder::Values& values, std::string_view key,
                    const OrderedEntity& entity) noexcept {
  const int compared = compare_all_in(order, values, entity.values);
  return compared > 0 || (compared == 0 && key > entity.sort_key);
}

/// A range of the index, and its present entry. The entries have one value in each ordering component before the last one by
/// which the range is ordered, and one type in that.
class Source {
 public:
  /// `prefix` is what their components begin with before that component. `depth` is how many components order the range.
  Source(engine::Cursor cursor, const IndexOrder& order, format::TableId table, std::string prefix, std::size_t depth)
      : cursor_(std::move(cursor)), order_(order), table_(table), prefix_(std::move(prefix)), depth_(depth) {
    cursor_.leave_values();
  }

  /// Moves to the first entry. Where the order of keys allows it, passes entries with the values of `after` up to its key.
  Status begin(const OrderedEntity* after) {
    order_.plan.is_reversed ? cursor_.seek_to_last() : cursor_.seek_to_first();
    Status loaded = load();
    if (!loaded.ok() || !is_valid() || after == nullptr || !is_in_key_order()) return loaded;
    if (compare_all_in(order_, values_, after->values) != 0) return loaded;
    std::string_view components = format::partition_of(cursor_.key());
    components.remove_suffix(1);  // the end of the part
    cursor_.seek(format::index_bound(components, after->sort_key));
    return load();
  }
  Status next() {
    order_.plan.is_reversed ? cursor_.previous() : cursor_.next();
    return load();
  }
  bool is_valid() const noexcept { return cursor_.valid(); }
  /// Returns the key of the entity. next() invalidates it.
  std::string& key() noexcept { return key_; }
  /// Returns the values that order the entry, and what they were made of.
  const EntityOrder::Values& values() const noexcept { return values_; }
  const std::vector<format::IndexValue>& entry() const noexcept { return entry_; }
  std::size_t depth() const noexcept { return depth_; }
  /// Returns whether the values and the key are the entity's place in the order.
  bool has_place() const noexcept { return order_.is_whole && !was_cut_; }

  /// Returns whether the entry comes before that of another range.
  bool is_before(const Source& other) const noexcept {
    const int compared = compare_all_in(order_, values_, other.values_);
    return compared < 0 || (compared == 0 && key_ < other.key_);
  }
  /// Returns whether this entity and those of all entries that follow certainly come after another one.
  bool is_after(const OrderedEntity& entity) const noexcept {
    const int compared = compare_in(order_, depth_, values_, entity.values);
    if (compared == 0) return is_in_key_order() && key_ > entity.sort_key;
    return compared > 0 && !may_be_before(entity);
  }

  /// Returns whether the entries that have the present value are better divided by the types of the next component. They are
  /// if there are many, and if some of them belong to the page and others do not: by its place, or by the filter.
  bool wants_division(const FirstEntities& first) const noexcept {
    if (depth_ == order_.plan.components.size() || ordering().was_cut) return false;
    const bool is_bounded = order_.plan.components[depth_].is_bounded;
    return passed_ >= kUndividedMax || is_bounded || first.is_closed() || is_at(first.after());
  }
  /// Returns whether the present entry has the entity's values in all components that order the range.
  bool is_at(const OrderedEntity* entity) const noexcept {
    return entity != nullptr && compare_in(order_, depth_, values_, entity->values) == 0;
  }
  /// Returns what the components of all entries with the present value begin with.
  std::string components_of_value() const {
    std::string components = prefix_;
    const format::IndexValue& value = ordering();
    if (value.is_timestamp) {
      format::append_index_timestamp(components, format::load_u64(value.value.data()), value.is_descending);
    } else {
      format::append_index_component(components, value.type, value.value, value.is_descending);
    }
    return components;
  }
  /// Passes the entries that have the present value. `components` is what they begin with. Returns the range of those that are
  /// left, the present one among them.
  Result<KeyRange> pass_value(std::string_view components) {
    KeyRange left{format::index_prefix(order_.plan.index, components), {}, false};
    left.upper = format::end_of_prefix(left.lower);
    const KeyRange all = left;
    if (order_.plan.is_reversed) {
      left.upper = cursor_.key();
      left.upper.push_back('\0');  // No key lies between.
      cursor_.seek_before(all.lower);
    } else {
      left.lower = cursor_.key();
      cursor_.seek(all.upper);
    }
    if (Status loaded = load(); !loaded.ok()) return loaded;
    return left;
  }

 private:
  const format::IndexValue& ordering() const noexcept { return entry_[order_.plan.component + depth_ - 1]; }
  /// Returns whether the entries with the present values are in the order of the entities' keys, which are their places.
  bool is_in_key_order() const noexcept {
    return has_place() && order_.plan.is_in_key_order && depth_ == order_.plan.components.size();
  }
  /// Returns whether the entity's value could come before the other's, though its beginning comes after. In ascending order,
  /// the value is not before its beginning.
  bool may_be_before(const OrderedEntity& entity) const noexcept {
    const std::size_t last = order_.component + depth_ - 1;
    const SortValue& value = values_[last];
    return order_.of->components()[last].descending && ordering().was_cut &&
           compare_in(order_, depth_ - 1, values_, entity.values) == 0 && value.of == entity.values[last].of &&
           entity.values[last].bytes.starts_with(value.bytes);
  }

  Status load() {
    if (!cursor_.valid()) return cursor_.status();
    Result<std::vector<format::IndexValue>> components = format::decode_index_components(cursor_.key());
    if (!components.ok()) return components.status();
    const std::size_t end = order_.plan.component + order_.plan.components.size();
    if (components->size() < end) return Status::corruption("index key: it has too few components");
    Result<std::string> key = format::entity_key_of(cursor_.key(), table_);
    if (!key.ok()) return key.status();
    key_ = *std::move(key);
    const std::size_t last = order_.plan.component + depth_ - 1;
    passed_ = !entry_.empty() && (*components)[last] == entry_[last] ? passed_ + 1 : 0;
    entry_ = *std::move(components);
    values_ = values_of_entry(order_, entry_);
    was_cut_ = std::any_of(entry_.begin() + static_cast<std::ptrdiff_t>(order_.plan.component),
                           entry_.begin() + static_cast<std::ptrdiff_t>(end),
                           [](const format::IndexValue& value) { return value.was_cut; });
    return Status();
  }

  engine::Cursor cursor_;
  const IndexOrder& order_;
  const format::TableId table_;
  const std::string prefix_;
  const std::size_t depth_;
  std::string key_;
  std::vector<format::IndexValue> entry_;
  EntityOrder::Values values_;  // point into entry_
  bool was_cut_ = false;        // a value that orders
  std::size_t passed_ = 0;      // entries before the present one that have its value
};

/// The walk of one page.
class OrderedWalk {
 public:
  OrderedWalk(const IndexedScan& scan, const IndexOrder& order, PageScan& page, FirstEntities& first)
      : scan_(scan), order_(order), page_(page), first_(first), entries_left_(kIndexEntriesMax + 4 * first.count()) {}

  Status begin() {
    for (const std::string& prefix : order_.plan.prefixes) {
      KeyRange all{format::index_prefix(order_.plan.index, prefix), {}, false};
      all.upper = format::end_of_prefix(all.lower);
      if (Status opened = open(prefix, 0, true, all); !opened.ok()) return opened;
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
      } else if (source->wants_division(first_)) {
        if (Status divided = divide(*source); !divided.ok()) return divided;
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
      if (least != tied_.end() && !is_place_after(order_, tied_values_, *least, entity)) return false;
      return std::all_of(sources_.begin(), sources_.end(),
                         [&](const auto& source) { return !source->is_valid() || source->is_after(entity); });
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
    return std::none_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->is_valid(); });
  }

 private:
  /// Adds a source for each type of the component after `depth` ordering ones. `prefix` is what the entries' components begin
  /// with before it. `is_at_position`: they are the position's, so that only what follows it is left. Of each type, only what
  /// is `within` is added.
  Status open(const std::string& prefix, std::size_t depth, bool is_at_position, const KeyRange& within) {
    const OrderPlan::Component& component = order_.plan.components[depth];
    engine::Cursor types = scan_.table.view.cursor(within.lower, within.upper, &page_.read_cost());
    types.leave_values();
    bool has_begun = false;
    for (const ComponentBounds& bounds : is_at_position ? component.after : component.all) {
      KeyRange range = index_range(order_.plan.index, prefix, bounds);
      range.lower = std::max(range.lower, within.lower);
      range.upper = std::min(range.upper, within.upper);
      if (range.lower >= range.upper) continue;
      if (!has_begun || types.key() < range.lower) {
        types.seek(range.lower);
        has_begun = true;
        spend();
        if (!types.valid()) break;
      }
      if (types.key() >= range.upper) continue;  // The type has no entry.
      if (sources_.size() == kSourcesMax) entries_left_ = 0;
      if (is_exhausted()) return Status();
      sources_.push_back(std::make_unique<Source>(scan_.table.view.cursor(range.lower, range.upper, &page_.read_cost()),
                                                  order_, scan_.table.id, prefix, depth + 1));
      if (Status begun = sources_.back()->begin(first_.after()); !begun.ok()) return begun;
    }
    return types.status();
  }

  /// Divides the entries that have the source's present value by the types of the next component.
  Status divide(Source& source) {
    const std::string components = source.components_of_value();
    const std::size_t depth = source.depth();
    const bool is_at_position = source.is_at(first_.after());
    const Result<KeyRange> left = source.pass_value(components);
    if (!left.ok()) return left.status();
    sources_.erase(std::remove_if(sources_.begin(), sources_.end(), [](const auto& each) { return !each->is_valid(); }),
                   sources_.end());
    return open(components, depth, is_at_position, *left);
  }
  void spend() noexcept { entries_left_ -= std::min<std::uint64_t>(entries_left_, 1); }

  /// Returns the source whose entry comes first. Null if no entity of theirs that is left belongs to the page.
  Source* nearest() noexcept {
    Source* found = nullptr;
    for (const auto& source : sources_) {
      if (!source->is_valid() || (first_.is_closed() && source->is_after(first_.last()))) continue;
      if (found == nullptr || source->is_before(*found)) found = source.get();
    }
    return found;
  }

  bool is_tied(const Source& source) const noexcept {
    return source.has_place() && compare_all_in(order_, source.values(), tied_values_) == 0;
  }

  /// Takes the source's entry. If others may come before it, whose value is the same, it waits for them.
  Status take(Source& source, std::vector<std::string>& keys) {
    spend();
    const OrderedEntity* const after = first_.after();
    const bool is_before_page =
        source.has_place() && after != nullptr && !is_place_after(order_, source.values(), source.key(), *after);
    if (!is_before_page && holds_key(scan_, source.key())) {
      const bool waits = source.has_place() && !order_.plan.is_in_key_order && tied_.size() < kIndexEntriesMax;
      if (waits && tied_.empty()) {
        tied_entry_ = source.entry();
        tied_values_ = values_of_entry(order_, tied_entry_);
      }
      (waits ? tied_ : keys).push_back(std::move(source.key()));
    }
    return source.next();
  }

  /// Takes the first of the tied entities that belong to the page.
  void take_tied(std::vector<std::string>& keys, std::uint64_t wanted) {
    std::sort(tied_.begin(), tied_.end(), std::greater<>());
    for (; !tied_.empty() && keys.size() < wanted; tied_.pop_back()) {
      if (first_.is_closed() && is_place_after(order_, tied_values_, tied_.back(), first_.last())) {
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
  std::vector<std::unique_ptr<Source>> sources_;
  /// Keys of entities that only their keys put in order, the entry of one of them, and its values.
  std::vector<std::string> tied_;
  std::vector<format::IndexValue> tied_entry_;
  EntityOrder::Values tied_values_;
  std::uint64_t entries_left_;
};

}  // namespace

Result<std::optional<IndexOrder>> index_of_order(const IndexedScan& scan, const EntityOrder& order,
                                                 const OrderedPosition& after, bool in_one_partition) {
  const std::vector<EntityOrder::Component>& components = order.components();
  std::optional<IndexOrder> best;
  std::size_t component = 0;
  for (; component < components.size(); ++component) {
    if (in_one_partition && components[component].subject == Comparison::Subject::kPartitionKey) continue;
    if (!components[component].may_have_index()) break;
    const Value* const fixed = fixed_value(scan.filter, components[component].subject, components[component].property);
    if (fixed == nullptr) break;
    // The token of another filter is before or after all entities that this one matches.
    if (after.last && !is_at(after.last->values[component], *fixed)) return best;
  }
  const OrderedEntity* const last = after.last.get();
  if (component == components.size()) return best;
  if (last != nullptr && last->values[component].of == SortValue::Of::kAbsent) return best;
  std::array<Value, EntityOrder::kComponentsMax> literals;
  std::vector<IndexedOrder> wanted;
  for (std::size_t i = component; i < components.size() && components[i].may_have_index(); ++i) {
    const SortValue* const position = last != nullptr ? &last->values[i] : nullptr;
    if (position != nullptr) literals[i] = literal_of(*position);
    wanted.push_back({components[i].subject, components[i].property, components[i].descending,
                      types_after(position, components[i].descending), position != nullptr ? &literals[i] : nullptr});
  }
  if (wanted.empty()) return best;
  const auto rank = [](const IndexOrder& index) {
    // The order of keys helps only if the entries of one value need no further order.
    const bool is_in_order = index.is_whole && index.plan.is_in_key_order;
    return std::tuple(index.plan.component, index.plan.components.size(), is_in_order);
  };
  for (const TableIndex& index : scan.indexes.all) {
    if (index.state != IndexState::kReady) continue;
    std::optional<OrderPlan> plan =
        plan_index_order(scan.filter, index.id, index.definition, has_large_values(scan.table.id), wanted);
    if (!plan) continue;
    IndexOrder found{index.name, *std::move(plan), &order, component};
    found.is_whole = order.goes_on_by_key(found.served(), in_one_partition);
    if (!best || rank(found) > rank(*best)) best = std::move(found);
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
