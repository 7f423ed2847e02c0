// SPDX-License-Identifier: Apache-2.0
// Owns: the types of properties. A leaf header: every layer may include it.
// Must never: include a header that is no leaf header.
#pragma once

#include <cstdint>
#include <string_view>

#include "version.h"

namespace varve {

/// The eight types of the table service ("EDM types"), and one of the library. Their numbers are stable, since they are
/// stored.
enum class PropertyType : std::uint8_t {
  kBinary = 1,
  kBoolean = 2,
  kDateTime = 3,
  kDouble = 4,
  kGuid = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  /// A content of the store that the entity owns (large_value.h). The table service shows it as a String.
  kLargeValue = 9,
};

/// Returns "Edm.Binary", "Edm.Boolean" and so on; "LargeValue" for kLargeValue.
VARVE_EXPORT std::string_view property_type_name(PropertyType type) noexcept;

}  // namespace varve
