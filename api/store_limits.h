// SPDX-License-Identifier: Apache-2.0
// Owns: the limits that a store may raise when it is made.
// Must never: hold a limit that cannot be raised; those stand in limits.h alone.
#pragma once

#include <cstdint>

#include "limits.h"

#pragma GCC visibility push(default)

namespace varve {

/// As they come, those of the service. Stored when the store is made, since they change what it answers: other opens
/// take what is stored, and one that asks for others is refused. Each is at least one and at most what stands beside it
/// as its maximum, which the format and the log give.
struct StoreLimits {
  /// PartitionKey and RowKey, each; beyond 1,024 code units a key is at most kKeyBytesMax bytes of UTF-8 besides.
  std::uint32_t key_code_units_max = limits::kKeyCodeUnitsMax;
  std::uint32_t custom_properties_max = limits::kCustomPropertiesMax;
  std::uint32_t string_code_units_max = limits::kStringCodeUnitsMax;
  std::uint32_t binary_bytes_max = limits::kBinaryBytesMax;
  /// By the accounting of D-60.
  std::uint32_t entity_bytes_max = limits::kEntityBytesMax;
  std::uint32_t transaction_operations_max = limits::kTransactionOperationsMax;
  /// As the operations are encoded; not below entity_bytes_max.
  std::uint32_t transaction_bytes_max = limits::kTransactionBytesMax;
  /// Entities of one page of a scan.
  std::uint32_t page_size_max = limits::kPageSizeMax;
  /// Comparisons of one filter. The service speaks of 15 (limits::kStrictFilterComparisonsMax) and takes more, as this
  /// does.
  std::uint32_t filter_comparisons_max = UINT32_MAX;

  bool operator==(const StoreLimits&) const = default;

  static constexpr std::uint32_t kKeyBytesMax = 3072;
  static constexpr std::uint32_t kKeyCodeUnitsMaximum = 3072;
  static constexpr std::uint32_t kCustomPropertiesMaximum = 65'000;
  /// Of strings, binary values and entities.
  static constexpr std::uint32_t kEntityBytesMaximum = 16u << 20;
  static constexpr std::uint32_t kTransactionOperationsMaximum = 100'000;
  static constexpr std::uint32_t kTransactionBytesMaximum = 32u << 20;
  static constexpr std::uint32_t kPageSizeMaximum = 1'000'000;
};

}  // namespace varve

#pragma GCC visibility pop
