// SPDX-License-Identifier: Apache-2.0
// Owns: the limits that may be raised when a store is created.
// Must never: hold a limit that cannot be raised. limits.h alone has those.
#pragma once

#include <cstdint>

#include "limits.h"

#pragma GCC visibility push(default)

namespace varve {

/// The limits of one store. The defaults are the limits of the table service. They are stored when the store is
/// created, because they change its answers. Later opens use the stored limits; an open that asks for others is
/// refused.
///
/// Each limit is at least 1 and at most its maximum below, which the file format and the log set.
/// `string_code_units_max` counts UTF-16 code units of two bytes, so its maximum is half of kEntityBytesMaximum.
/// `filter_comparisons_max` has no maximum.
struct StoreLimits {
  /// UTF-16 code units of PartitionKey and of RowKey, each. A key also has at most kKeyBytesMax bytes of UTF-8; this
  /// matters only if the limit is above 1,024.
  std::uint32_t key_code_units_max = limits::kKeyCodeUnitsMax;
  std::uint32_t custom_properties_max = limits::kCustomPropertiesMax;
  std::uint32_t string_code_units_max = limits::kStringCodeUnitsMax;
  std::uint32_t binary_bytes_max = limits::kBinaryBytesMax;
  /// Bytes of an entity, counted as D-60 says (accounted_size_bytes() in types.h).
  std::uint32_t entity_bytes_max = limits::kEntityBytesMax;
  std::uint32_t transaction_operations_max = limits::kTransactionOperationsMax;
  /// Bytes of the operations as they are encoded. Must not be below entity_bytes_max.
  std::uint32_t transaction_bytes_max = limits::kTransactionBytesMax;
  /// Entities in one page of a scan.
  std::uint32_t page_size_max = limits::kPageSizeMax;
  /// Comparisons in one filter. The service documents 15 (limits::kStrictFilterComparisonsMax) but accepts more, as
  /// this store does.
  std::uint32_t filter_comparisons_max = UINT32_MAX;

  bool operator==(const StoreLimits&) const = default;

  static constexpr std::uint32_t kKeyBytesMax = 3072;
  static constexpr std::uint32_t kKeyCodeUnitsMaximum = 3072;
  static constexpr std::uint32_t kCustomPropertiesMaximum = 65'000;
  /// For strings, binary values and entities.
  static constexpr std::uint32_t kEntityBytesMaximum = 16u << 20;
  static constexpr std::uint32_t kTransactionOperationsMaximum = 100'000;
  static constexpr std::uint32_t kTransactionBytesMaximum = 32u << 20;
  static constexpr std::uint32_t kPageSizeMaximum = 1'000'000;
};

}  // namespace varve

#pragma GCC visibility pop
