// Owns: the encoding of an entity's custom properties, which can be read in place.
// Must never: require decoding one property to reach another, or contain the keys or the Timestamp (the internal key
// contains them).
//
//   offset size
//        0    1  encoding, 1
//        1    1  flags, 0; unknown ones are refused
//        2    2  property count n
//        4   8n  slots, in the order the properties were given:
//                  u16 hash of the name (low 16 bits of XXH3-64)
//                  u16 type in the low 4 bits, bytes of the name in the high 12
//                  u32 offset of the name from the start of the entity; the value follows the name
//     4+8n    -  names and values, without a gap: the first name begins here, a value ends where the next slot's name
//                begins, the last one at the end
// Values: Binary raw; Boolean 1 byte, 0 or 1; DateTime 8 (ticks); Double 8 (IEEE 754); Guid 16 (in the order of its
// text); Int32 4; Int64 8; String UTF-8; LargeValue 16 (u64 number of the content, u64 its length). Numbers are
// little-endian.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "format/bytes/bytes.h"
#include "varve/property_type.h"
#include "varve/result.h"

namespace varve::format {

using PropertyType = varve::PropertyType;

/// Returns the hash of a property's name that slots store.
std::uint16_t hash_of_name(std::string_view name) noexcept;

/// Returns the size in bytes that all values of the type have, or nothing if their sizes differ.
std::optional<std::size_t> fixed_value_bytes(PropertyType type) noexcept;

using GuidBytes = std::array<std::uint8_t, 16>;

/// A LargeValue as it is stored: the number of a content in the account, and its bytes.
struct ContentReference {
  std::uint64_t content = 0;
  std::uint64_t length = 0;
};

/// One property, read in place. The views point into the entity's bytes.
struct PropertyView {
  std::string_view name;
  PropertyType type = PropertyType::kString;
  std::string_view value;

  // Returns the value as the named type, which must be the property's type (asserted).
  bool as_boolean() const noexcept {
    assert(type == PropertyType::kBoolean);
    return value[0] != 0;
  }
  std::uint64_t as_date_time_ticks() const noexcept {
    assert(type == PropertyType::kDateTime);
    return load_u64(value.data());
  }
  double as_double() const noexcept {
    assert(type == PropertyType::kDouble);
    return std::bit_cast<double>(load_u64(value.data()));
  }
  GuidBytes as_guid() const noexcept {
    assert(type == PropertyType::kGuid);
    GuidBytes guid;
    std::memcpy(guid.data(), value.data(), guid.size());
    return guid;
  }
  std::int32_t as_int32() const noexcept {
    assert(type == PropertyType::kInt32);
    return static_cast<std::int32_t>(load_u32(value.data()));
  }
  std::int64_t as_int64() const noexcept {
    assert(type == PropertyType::kInt64);
    return static_cast<std::int64_t>(load_u64(value.data()));
  }
  ContentReference as_large_value() const noexcept {
    assert(type == PropertyType::kLargeValue);
    return {load_u64(value.data()), load_u64(value.data() + 8)};
  }
};

/// Collects properties and encodes them. Repeated names are not checked, and the caller enforces the service's limits.
/// A name has at most 4,095 bytes, an entity less than 4 GiB, and its count is below 65,536 (asserted).
class EntityBuilder {
 public:
  void add_binary(std::string_view name, std::string_view value);
  void add_boolean(std::string_view name, bool value);
  void add_date_time(std::string_view name, std::uint64_t ticks);
  void add_double(std::string_view name, double value);
  void add_guid(std::string_view name, const GuidBytes& value);
  void add_int32(std::string_view name, std::int32_t value);
  void add_int64(std::string_view name, std::int64_t value);
  void add_large_value(std::string_view name, const ContentReference& value);
  void add_string(std::string_view name, std::string_view utf8);
  /// Appends a property that was read from another entity.
  void add(const PropertyView& property);

  std::size_t property_count() const noexcept { return count_; }
  /// Returns the entity. The builder is empty afterwards.
  std::string finish();
  /// Writes the entity into `entity`, in place of its old content. The memory of both objects is reused.
  void finish(std::string& entity);
  void clear() noexcept;

  /// Starts an entity of `properties` properties that is built in place, after `bytes`. This saves a copy of large
  /// values. The previous content of the builder is discarded.
  void begin_behind(std::string bytes, std::size_t properties);
  /// Returns `bytes` followed by the entity, which must have exactly the announced number of properties (asserted). The
  /// builder is empty afterwards.
  std::string finish_in_place();
  /// Returns the size in bytes of an entity of `properties` properties with that many bytes of names and values
  /// together.
  static std::size_t entity_bytes(std::size_t properties, std::size_t name_and_value_bytes) noexcept;

 private:
  void add_raw(std::string_view name, PropertyType type, std::string_view value);
  void place_names(std::size_t heap_offset) noexcept;
  std::string slots_;  // unless the entity is built in place
  /// Names and values. In place: the bytes of begin_behind(), then the entity with room for all of its slots.
  std::string heap_;
  std::size_t entity_at_ = 0;  // in place: where the entity begins in heap_
  std::size_t slot_at_ = 0;    // in place: where the next slot belongs in heap_; else zero
  std::size_t count_ = 0;
};

/// An entity that is read in place. open() checks the frame: every name and value lies inside, in order, and fixed
/// sizes are right. The accessors therefore need no checks. verify() also checks texts, Booleans, hashes and ranges.
class EncodedEntity {
 public:
  /// Makes an entity without properties.
  EncodedEntity() noexcept = default;
  /// Errors: kCorruption; kUnsupported (unknown encoding, flag or property type). `bytes` must outlive the view.
  static Result<EncodedEntity> open(std::string_view bytes);
  Status verify() const;

  std::size_t property_count() const noexcept { return count_; }
  /// `index` is below property_count().
  PropertyView property(std::size_t index) const noexcept;
  /// Finds a property by name without reading other properties' values. If a name occurs twice, returns the first.
  std::optional<PropertyView> find(std::string_view name) const noexcept { return find(name, hash_of_name(name)); }
  /// Does the same. `name_hash` is hash_of_name(name).
  std::optional<PropertyView> find(std::string_view name, std::uint16_t name_hash) const noexcept;

 private:
  /// Returns why open() refuses the bytes.
  static Status refusal(std::string_view bytes);

  std::string_view bytes_;
  std::size_t count_ = 0;
};

}  // namespace varve::format
