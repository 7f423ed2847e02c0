// Owns: numbers as properties of a catalog row.
// Must never: accept a number that is out of its range, or lose another property of the row.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "format/keys/entity.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve {

/// The commit version that created what the row describes. Absent while it equals the version of the row.
inline constexpr std::string_view kCreated = "Created";

struct NumberProperty {
  std::string_view name;
  std::int64_t value;
};

/// Returns the number, or nothing if it is absent or out of its range.
inline std::optional<std::uint64_t> find_number(const format::EncodedEntity& row, std::string_view name,
                                                std::uint64_t min, std::uint64_t max) noexcept {
  const std::optional<format::PropertyView> property = row.find(name);
  if (!property || property->type != format::PropertyType::kInt64) return std::nullopt;
  const auto value = static_cast<std::uint64_t>(property->as_int64());
  return value >= min && value <= max ? std::optional(value) : std::nullopt;
}

/// Returns nothing only if the row has a Created that is invalid.
inline std::optional<format::CommitVersion> find_created(const format::EncodedEntity& row,
                                                         format::CommitVersion version) noexcept {
  if (!row.find(kCreated)) return version;
  return find_number(row, kCreated, 1, version);
}

/// Returns the row with some numbers set and everything else unchanged.
inline Result<std::string> with_numbers(std::string_view value, std::initializer_list<NumberProperty> numbers) {
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status();
  format::EntityBuilder builder;
  for (std::size_t i = 0; i < row->property_count(); ++i) {
    const format::PropertyView property = row->property(i);
    bool replaced = false;
    for (const NumberProperty& number : numbers) replaced = replaced || number.name == property.name;
    if (!replaced) builder.add(property);
  }
  for (const NumberProperty& number : numbers) builder.add_int64(number.name, number.value);
  return builder.finish();
}

}  // namespace varve
