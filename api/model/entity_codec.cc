// Owns: the encoding and decoding of entities (entity_codec.h).
// Must never: trust a name or a value from a caller, or bytes from a store.
#include "api/model/entity_codec.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <variant>
#include <vector>

#include "api/model/large_value_maker.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/model/spare_pieces.h"
#include "api/model/usual_text.h"
#include "format/keys/property_reader.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

/// The constants of D-60, in bytes.
constexpr std::size_t kEntityConstantBytes = 4;
constexpr std::size_t kPropertyConstantBytes = 8;
constexpr std::size_t kTextConstantBytes = 4;
/// What a LargeValue counts, whatever its length (BX-01).
constexpr std::size_t kLargeValueBytes = 40;

/// The counts of an entity, made while it is checked.
struct Tally {
  std::size_t properties = 0;
  std::size_t stored_bytes = 0;
  /// An upper bound of the accounted size, known without reading any text.
  std::size_t accounted_bytes_max = 0;
  bool has_large_values = false;

  void add(std::size_t stored, std::size_t accounted_max) noexcept {
    stored_bytes += stored;
    accounted_bytes_max += accounted_max;
  }
};

/// Counts a value, and returns whether it may be stored.
struct ValueJudge {
  const StoreLimits& limits;
  Tally& tally;

  bool operator()(const Binary& value) const noexcept {
    tally.add(value.bytes.size(), value.bytes.size());
    return value.bytes.size() <= limits.binary_bytes_max;
  }
  bool operator()(const std::string& value) const noexcept {
    tally.add(value.size(), 2 * value.size());
    if (!format::is_valid_utf8(value)) return false;
    return value.size() <= limits.string_code_units_max || format::utf16_length(value) <= limits.string_code_units_max;
  }
  bool operator()(const DateTime& value) const noexcept {
    tally.add(sizeof(value), sizeof(value));
    return value.ticks >= varve::limits::kDateTimeTicksMin && value.ticks <= varve::limits::kDateTimeTicksMax;
  }
  bool operator()(const LargeValue& value) const noexcept {
    tally.add(sizeof(value), kLargeValueBytes);
    tally.has_large_values = true;
    return value.id() != 0;
  }
  template <typename Any>
  bool operator()(const Any& value) const noexcept {
    tally.add(sizeof(value), sizeof(value));
    return true;
  }
};

/// Returns why a value may not be stored, for those that the judge refuses.
struct ValueRefusal {
  const std::string& name;
  const StoreLimits& limits;

  Status operator()(const Binary& value) const {
    return service_error::property_value_too_large("property " + quoted(name) + " has " +
                                                   std::to_string(value.bytes.size()) + " bytes; at most " +
                                                   std::to_string(limits.binary_bytes_max) + " are allowed");
  }
  Status operator()(const std::string& value) const {
    if (!format::is_valid_utf8(value)) {
      return service_error::invalid_input("the value of property " + quoted(name) + " is not valid UTF-8");
    }
    return service_error::property_value_too_large(
        "property " + quoted(name) + " has " + std::to_string(format::utf16_length(value)) +
        " UTF-16 code units; at most " + std::to_string(limits.string_code_units_max) + " are allowed");
  }
  Status operator()(const DateTime& /*value*/) const {
    return service_error::out_of_range_input("property " + quoted(name) + " is outside the years 1601 to 9999");
  }
  Status operator()(const LargeValue& /*value*/) const {
    return service_error::invalid_input("property " + quoted(name) +
                                        " is a LargeValue that names no content; take it from a LargeValueWriter");
  }
  template <typename Any>
  Status operator()(const Any& /*value*/) const {
    return Status();
  }
};

bool is_key_name(std::string_view name) noexcept {
  return name == kPartitionKeyName || name == kRowKeyName;
}

Status check_name(const std::string& name) {
  if (!is_key_name(name)) return check_property_name(name);
  return service_error::duplicate_key_property("a property must not be named " + name +
                                               "; set the keys of the entity separately from its properties");
}

/// Returns whether check_name() accepts the name, for nearly all names.
bool is_usual_name(std::string_view name) noexcept {
  return name.size() <= varve::limits::kPropertyNameCodeUnitsMax && !is_key_name(name) && is_ascii_identifier(name);
}

Status check_property(const Property& property, const StoreLimits& limits, Tally& tally) {
  if (!is_usual_name(property.name)) {
    if (Status named = check_name(property.name); !named.ok()) return named;
  }
  ++tally.properties;
  tally.add(property.name.size(), kPropertyConstantBytes + kTextConstantBytes + 2 * property.name.size());
  if (std::visit(ValueJudge{limits, tally}, property.value.variant())) return Status();
  return std::visit(ValueRefusal{property.name, limits}, property.value.variant());
}

/// Up to this number, names are compared pairwise. More names are sorted.
constexpr std::size_t kComparedPairwiseMax = 24;

const std::string* name_given_twice(std::span<const Property> properties) {
  if (properties.size() <= kComparedPairwiseMax) {
    for (auto at = properties.begin(); at != properties.end(); ++at) {
      const std::string& name = at->name;
      const auto same_name = [&name](const Property& other) { return other.name == name; };
      if (std::any_of(properties.begin(), at, same_name) && name != kTimestampName) return &name;
    }
    return nullptr;
  }
  std::vector<const std::string*> names;
  names.reserve(properties.size());
  for (const Property& property : properties) {
    if (property.name != kTimestampName) names.push_back(&property.name);
  }
  const auto same = [](const std::string* a, const std::string* b) { return *a == *b; };
  std::sort(names.begin(), names.end(), [](const std::string* a, const std::string* b) { return *a < *b; });
  const auto twice = std::adjacent_find(names.begin(), names.end(), same);
  return twice == names.end() ? nullptr : *twice;
}

Status too_many(std::size_t count, const StoreLimits& limits) {
  return service_error::too_many_properties("the entity has " + std::to_string(count) +
                                            " properties besides its keys and Timestamp; at most " +
                                            std::to_string(limits.custom_properties_max) + " are allowed");
}

Status too_large(std::size_t bytes, const StoreLimits& limits) {
  return service_error::entity_too_large("the entity has an accounted size of " + std::to_string(bytes) +
                                         " bytes; at most " + std::to_string(limits.entity_bytes_max) + " are allowed");
}

/// Returns the bytes of a value as it is stored.
struct StoredBytes {
  std::size_t operator()(const Binary& value) const noexcept { return value.bytes.size(); }
  std::size_t operator()(const std::string& value) const noexcept { return value.size(); }
  template <typename Fixed>
  std::size_t operator()(const Fixed& /*value*/) const noexcept {
    return sizeof(Fixed);
  }
};

struct Appender {
  format::EntityBuilder& builder;
  const std::string& name;

  void operator()(const Binary& value) const { builder.add_binary(name, value.bytes); }
  void operator()(bool value) const { builder.add_boolean(name, value); }
  void operator()(DateTime value) const { builder.add_date_time(name, value.ticks); }
  void operator()(double value) const { builder.add_double(name, value); }
  void operator()(const Guid& value) const { builder.add_guid(name, value.bytes); }
  void operator()(std::int32_t value) const { builder.add_int32(name, value); }
  void operator()(std::int64_t value) const { builder.add_int64(name, value); }
  void operator()(const std::string& value) const { builder.add_string(name, value); }
  void operator()(const LargeValue& value) const { builder.add_large_value(name, LargeValueMaker::stored(value)); }
};

void append_all(const Entity& entity, format::EntityBuilder& builder) {
  for (const Property& property : entity.properties()) {
    if (property.name == kTimestampName) continue;
    std::visit(Appender{builder, property.name}, property.value.variant());
  }
}

/// Returns a copy of the value.
Value value_of(const format::PropertyView& property) {
  switch (property.type) {
    case format::PropertyType::kBinary: return Binary{spare_texts::copy(property.value)};
    case format::PropertyType::kBoolean: return property.as_boolean();
    case format::PropertyType::kDateTime: return DateTime{property.as_date_time_ticks()};
    case format::PropertyType::kDouble: return property.as_double();
    case format::PropertyType::kGuid: return Guid{property.as_guid()};
    case format::PropertyType::kInt32: return property.as_int32();
    case format::PropertyType::kInt64: return property.as_int64();
    case format::PropertyType::kString: return spare_texts::copy(property.value);
    case format::PropertyType::kLargeValue: return LargeValueMaker::make(property.as_large_value());
  }
  return Value();  // open() accepts no other type.
}

/// Makes the view of the value in place, because a copy of it right after it was written in parts would be slow.
inline void make_view(const format::PropertyView& property, ValueView& value) noexcept {
  if (property.type == format::PropertyType::kString) {  // most properties
    value.emplace<std::string_view>(property.value);
    return;
  }
  switch (property.type) {
    case format::PropertyType::kBinary: value.emplace<BinaryView>().bytes = property.value; return;
    case format::PropertyType::kBoolean: value.emplace<bool>(property.as_boolean()); return;
    case format::PropertyType::kDateTime: value.emplace<DateTime>().ticks = property.as_date_time_ticks(); return;
    case format::PropertyType::kDouble: value.emplace<double>(property.as_double()); return;
    case format::PropertyType::kGuid: value.emplace<Guid>().bytes = property.as_guid(); return;
    case format::PropertyType::kInt32: value.emplace<std::int32_t>(property.as_int32()); return;
    case format::PropertyType::kInt64: value.emplace<std::int64_t>(property.as_int64()); return;
    case format::PropertyType::kString: return;
    case format::PropertyType::kLargeValue:
      value.emplace<LargeValue>(LargeValueMaker::make(property.as_large_value()));
      return;
  }
}

/// Returns the accounted size of a stored property (D-60). Stored texts are UTF-8, or were UTF-8 when they were
/// written.
std::size_t accounted_bytes(const format::PropertyView& property) noexcept {
  const std::size_t named = kPropertyConstantBytes + 2 * format::utf16_length(property.name);
  switch (property.type) {
    case format::PropertyType::kString: return named + kTextConstantBytes + 2 * format::utf16_length(property.value);
    case format::PropertyType::kBinary: return named + kTextConstantBytes + property.value.size();
    case format::PropertyType::kLargeValue: return named + kLargeValueBytes;
    default: return named + property.value.size();
  }
}

/// The selected names. A few names are compared with each property; many names are sorted.
class Selection {
 public:
  explicit Selection(std::span<const std::string> select) : select_(select) {
    if (select.size() <= kComparedPairwiseMax) return;
    sorted_.reserve(select.size());
    for (std::size_t place = 0; place < select.size(); ++place) sorted_.emplace_back(select[place], place);
    std::sort(sorted_.begin(), sorted_.end());
  }
  /// Returns the first place of the name, or the number of names if it is not selected.
  std::size_t place_of(std::string_view name) const noexcept {
    if (sorted_.empty()) {
      return static_cast<std::size_t>(std::find(select_.begin(), select_.end(), name) - select_.begin());
    }
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), Placed(name, 0));
    return found != sorted_.end() && found->first == name ? found->second : select_.size();
  }
  bool holds(std::string_view name) const noexcept { return place_of(name) != select_.size(); }

 private:
  using Placed = std::pair<std::string_view, std::size_t>;
  std::span<const std::string> select_;
  std::vector<Placed> sorted_;
};

}  // namespace

Status check_properties(const Entity& entity, const StoreLimits& limits, CheckedProperties* learned) {
  Tally tally;
  for (const Property& property : entity.properties()) {
    if (property.name == kTimestampName) continue;
    if (Status checked = check_property(property, limits, tally); !checked.ok()) return checked;
  }
  if (const std::string* const name = name_given_twice(entity.properties()); name != nullptr) {
    return service_error::duplicate_properties("the property " + quoted(*name) + " is given twice");
  }
  if (tally.properties > limits.custom_properties_max) return too_many(tally.properties, limits);
  const std::size_t key_bytes = entity.partition_key().size() + entity.row_key().size();
  if (tally.accounted_bytes_max + kEntityConstantBytes + 2 * key_bytes > limits.entity_bytes_max) {
    const std::size_t bytes = accounted_size_bytes(entity);
    if (bytes > limits.entity_bytes_max) return too_large(bytes, limits);
  }
  if (learned != nullptr) {
    learned->size = {tally.properties, format::EntityBuilder::entity_bytes(tally.properties, tally.stored_bytes)};
    learned->has_large_values = tally.has_large_values;
  }
  return Status();
}

void encode_properties(const Entity& entity, format::EntityBuilder& builder, std::string& value) {
  builder.clear();
  append_all(entity, builder);
  builder.finish(value);
}

StoredSize stored_size(const Entity& entity) noexcept {
  std::size_t properties = 0;
  std::size_t bytes = 0;
  for (const Property& property : entity.properties()) {
    if (property.name == kTimestampName) continue;
    ++properties;
    bytes += property.name.size() + std::visit(StoredBytes{}, property.value.variant());
  }
  return {properties, format::EntityBuilder::entity_bytes(properties, bytes)};
}

std::size_t encoded_size_bytes(const Entity& entity) noexcept {
  return entity.partition_key().size() + entity.row_key().size() + stored_size(entity).bytes;
}

std::string encode_properties_behind(std::string bytes, const Entity& entity, const StoredSize& size) {
  format::EntityBuilder builder;
  builder.begin_behind(std::move(bytes), size.properties);
  append_all(entity, builder);
  return builder.finish_in_place();
}

std::size_t accounted_key_bytes(std::string_view partition_key, std::string_view row_key) noexcept {
  return kEntityConstantBytes + 2 * format::utf16_length(partition_key) + 2 * format::utf16_length(row_key);
}

Result<std::string> merge_properties(std::string_view stored, std::string_view added, std::size_t key_bytes,
                                     const StoreLimits& limits, std::span<const std::string> removed) {
  const Result<format::EncodedEntity> old = format::EncodedEntity::open(stored);
  if (!old.ok()) return old.status();
  const Result<format::EncodedEntity> more = format::EncodedEntity::open(added);
  if (!more.ok()) return more.status();

  format::EntityBuilder builder;
  std::size_t bytes = key_bytes;
  const auto add = [&](const format::PropertyView& property) {
    bytes += accounted_bytes(property);
    builder.add(property);
  };
  const Selection leaving(removed);
  for (std::size_t i = 0; i < old->property_count(); ++i) {
    const format::PropertyView property = old->property(i);
    const std::optional<format::PropertyView> replacement = more->find(property.name);
    if (!replacement && !removed.empty() && leaving.holds(property.name)) continue;
    add(replacement.value_or(property));
  }
  for (std::size_t i = 0; i < more->property_count(); ++i) {
    const format::PropertyView property = more->property(i);
    if (!old->find(property.name)) add(property);
  }
  if (builder.property_count() > limits.custom_properties_max) return too_many(builder.property_count(), limits);
  if (bytes > limits.entity_bytes_max) return too_large(bytes, limits);
  return builder.finish();
}

namespace {

/// Calls `use` for each selected property, in the order of the names; for all of them if none is selected. Returns false if
/// a property is damaged.
template <typename Use>
bool read_selected(format::PropertyReader& reader, std::span<const std::string> select, const Use& use) {
  format::PropertyView property;
  const std::size_t count = reader.property_count();
  if (select.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!reader.next(property)) return false;
      use(property);
    }
    return true;
  }
  const Selection selection(select);
  std::array<format::PropertyView, 6> few;  // Most selections name no more, and a greater array costs time.
  std::vector<format::PropertyView> many(select.size() > few.size() ? select.size() : 0);
  const std::span<format::PropertyView> found = many.empty() ? std::span(few).first(select.size()) : std::span(many);
  for (std::size_t i = 0; i < count; ++i) {
    if (!reader.next(property)) return false;
    const std::size_t place = selection.place_of(property.name);
    if (place < found.size()) found[place] = property;
  }
  for (const format::PropertyView& each : found) {
    if (each.name.data() != nullptr) use(each);  // Otherwise the entity lacks it.
  }
  return true;
}

std::size_t selected_max(const format::PropertyReader& reader, std::span<const std::string> select) noexcept {
  return select.empty() ? reader.property_count() : std::min(select.size(), reader.property_count());
}

}  // namespace

Status unreadable(std::string_view bytes, std::string_view partition_key, std::string_view row_key) {
  const Result<format::EncodedEntity> opened = format::EncodedEntity::open(bytes);
  assert(!opened.ok());  // The reader refuses only what open() refuses.
  return opened.status().in_file("the entity " + quoted(partition_key) + ", " + quoted(row_key));
}

/// Makes properties directly in the list of an entity. Entity::add() would make them elsewhere and move them.
struct EntityMaker {
  /// `take_room` returns the list for at most that many properties.
  template <typename TakeRoom>
  static Status decode(Entity& entity, format::CommitVersion version, std::string_view bytes,
                       std::span<const std::string> select, const TakeRoom& take_room) {
    format::PropertyReader reader;
    if (!reader.open(bytes)) return unreadable(bytes, entity.partition_key(), entity.row_key());
    PropertyList& properties = entity.properties_;
    take_room(properties, selected_max(reader, select));
    const bool is_well = read_selected(reader, select, [&properties](const format::PropertyView& property) {
      properties.add([&property] { return Property{spare_texts::copy(property.name), value_of(property)}; });
    });
    if (!is_well) return unreadable(bytes, entity.partition_key(), entity.row_key());
    entity.set_etag(ETag::of_timestamp(DateTime{version}));
    return Status();
  }
};

std::size_t selected_bytes(std::string_view bytes, std::span<const std::string> select) {
  format::PropertyReader reader;
  if (select.empty() || !reader.open(bytes)) return bytes.size();
  std::size_t properties = 0;
  std::size_t name_and_value_bytes = 0;
  const bool is_well = read_selected(reader, select, [&](const format::PropertyView& property) {
    ++properties;
    name_and_value_bytes += property.name.size() + property.value.size();
  });
  return is_well ? format::EntityBuilder::entity_bytes(properties, name_and_value_bytes) : bytes.size();
}

Status decode_properties(format::CommitVersion version, std::string_view bytes, std::span<const std::string> select,
                         PropertyRoom& room, Entity& entity) {
  return EntityMaker::decode(entity, version, bytes, select,
                             [&room](PropertyList& list, std::size_t count) { list = room.take(count); });
}

Status decode_properties(Entity& entity, format::CommitVersion version, std::string_view bytes,
                         std::span<const std::string> select) {
  return EntityMaker::decode(entity, version, bytes, select,
                             [](PropertyList& list, std::size_t count) { list.reserve(count); });
}

void view_value(const format::PropertyView& property, ValueView& value) noexcept {
  make_view(property, value);
}

namespace {

/// Does view_entity() for the selected properties. `properties` has room for them. Apart, because it needs much of the stack.
[[gnu::noinline]] bool view_selected(format::PropertyReader reader, std::span<const std::string> select,
                                     std::vector<PropertyView>& properties, EntityView& entity) {
  PropertyView* viewed = properties.data();
  const bool is_well = read_selected(reader, select, [&viewed](const format::PropertyView& property) {
    viewed->name = property.name;
    make_view(property, viewed->value);
    ++viewed;
  });
  entity.properties = {properties.data(), viewed};
  return is_well;
}

}  // namespace

bool view_entity(format::CommitVersion version, std::string_view bytes, std::span<const std::string> select,
                 std::vector<PropertyView>& properties, EntityView& entity) {
  format::PropertyReader reader;
  if (!reader.open(bytes)) return false;
  const std::size_t count = reader.property_count();
  if (properties.size() < count) properties.resize(count);
  entity.etag = ETag::of_timestamp(DateTime{version});
  if (!select.empty()) return view_selected(reader, select, properties, entity);
  PropertyView* viewed = properties.data();
  // In registers: a property that was written in parts is slow to read as a whole.
  format::PropertyView property;
  for (PropertyView* const end = viewed + count; viewed != end; ++viewed) {
    if (!reader.next(property)) return false;
    viewed->name = property.name;
    make_view(property, viewed->value);
  }
  entity.properties = {properties.data(), count};
  return true;
}

}  // namespace varve
