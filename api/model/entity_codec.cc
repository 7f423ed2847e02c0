// Owns: the checks, the encoding and the merge of entities (entity_codec.h).
// Must never: trust a name or a value from a caller, or bytes from a store.
#include "api/model/entity_codec.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "api/model/large_value_maker.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/model/usual_text.h"
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

}  // namespace varve
