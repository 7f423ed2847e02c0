// Owns: how the fields of a row become an entity.
// Must never: read a row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tools/varve/rows/key_template.h"
#include "varve/types.h"

namespace varve::tool {

/// What happens to an object or array that is a field.
enum class NestedValues : std::uint8_t {
  kRefuse,   // The row is refused.
  kText,     // Its JSON is the text of a property.
  kFlatten,  // Each member of an object is a property, NAME_MEMBER. An array is a text.
};

struct RowShape {
  KeyTemplate partition_key{"PartitionKey"};
  KeyTemplate row_key{"RowKey"};
  /// The types that override those of the values.
  std::map<std::string, PropertyType> types{};
  /// Replaces what a key may not contain. Without it, such a row is refused.
  std::optional<std::string> key_replacement{};
  /// Whether a column that is a key is a property too.
  bool keeps_key_columns = false;
  /// Whether names that no property may have are changed.
  bool fixes_names = false;
  NestedValues nested = NestedValues::kRefuse;
  /// Whether a field of the type LargeValue is the name of a file with its content. Otherwise such a row is refused.
  bool takes_contents = false;
  /// Fields that become no property.
  std::set<std::string> omitted{};
  /// The file's name for `{@file}`.
  std::string file{};
};

}  // namespace varve::tool
