// Owns: an entity's custom properties as bytes, readable in place.
// Must never: need to decode one property to reach another, or hold keys or the Timestamp (they are in the internal
// key).
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
// text); Int32 4; Int64 8; String UTF-8. Numbers are little-endian.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::format {

enum class PropertyType : std::uint8_t {
  kBinary = 1,
  kBoolean = 2,
  kDateTime = 3,
  kDouble = 4,
  kGuid = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
};

/// Bytes of every value of the type; nothing where they differ.
std::optional<std::size_t> fixed_value_bytes(PropertyType type) noexcept;

using GuidBytes = std::array<std::uint8_t, 16>;

/// One property where it lies. Views point into the entity's bytes.
struct PropertyView {
  std::string_view name;
  PropertyType type = PropertyType::kString;
  std::string_view value;

  // The value as its type; the type must be the one asked for (asserted).
  bool as_boolean() const noexcept;
  std::uint64_t as_date_time_ticks() const noexcept;
  double as_double() const noexcept;
  GuidBytes as_guid() const noexcept;
  std::int32_t as_int32() const noexcept;
  std::int64_t as_int64() const noexcept;
};

/// Collects properties and lays them out. Names are not checked for repetition; limits are the caller's. A name is at
/// most 4,095 bytes, an entity below 4 GiB, a count below 65,536 (asserted).
class EntityBuilder {
 public:
  void add_binary(std::string_view name, std::string_view value);
  void add_boolean(std::string_view name, bool value);
  void add_date_time(std::string_view name, std::uint64_t ticks);
  void add_double(std::string_view name, double value);
  void add_guid(std::string_view name, const GuidBytes& value);
  void add_int32(std::string_view name, std::int32_t value);
  void add_int64(std::string_view name, std::int64_t value);
  void add_string(std::string_view name, std::string_view utf8);
  /// A property as it lies in another entity.
  void add(const PropertyView& property);

  std::size_t property_count() const noexcept { return slots_.size() / 8; }
  /// The entity. The builder is empty again.
  std::string finish();
  /// The same in the place of what `entity` held. The memory of both is used again.
  void finish(std::string& entity);
  void clear() noexcept;

  /// The other way: an entity of so many properties is made where it is to lie, behind `bytes`, which spares a copy of
  /// large values. What the builder held is forgotten.
  void begin_behind(std::string bytes, std::size_t properties);
  /// `bytes` and the entity, which has got exactly so many properties (asserted). The builder is empty again.
  std::string finish_in_place();
  /// Of an entity of so many properties, whose names and values have so many bytes.
  static std::size_t entity_bytes(std::size_t properties, std::size_t name_and_value_bytes) noexcept;

 private:
  void add_raw(std::string_view name, PropertyType type, std::string_view value);
  void place_names(std::size_t heap_offset) noexcept;
  std::string slots_;
  /// Names and values, from heap_start_ on; before it what begin_behind() was given, and room for the slots.
  std::string heap_;
  std::size_t heap_start_ = 0;
};

/// An entity read in place. `open` checks the frame (every name and value lies inside, in order, fixed sizes are
/// right), so that the accessors need no checks; `verify` also checks texts, Booleans, hashes and ranges.
class EntityView {
 public:
  /// An entity without properties.
  EntityView() noexcept = default;
  /// Errors: kCorruption; kUnsupported (unknown encoding, flag or property type). `bytes` must outlive the view.
  static Result<EntityView> open(std::string_view bytes);
  Status verify() const;

  std::size_t property_count() const noexcept { return count_; }
  /// `index` is below property_count().
  PropertyView property(std::size_t index) const noexcept;
  /// By name, without touching other properties' values; the first one, should a name stand twice.
  std::optional<PropertyView> find(std::string_view name) const noexcept;

 private:
  std::string_view bytes_;
  std::size_t count_ = 0;
};

}  // namespace varve::format
