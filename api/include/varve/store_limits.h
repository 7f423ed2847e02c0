// SPDX-License-Identifier: Apache-2.0
// Owns: the limits that may be raised when a store is created.
// Must never: hold a limit that cannot be raised. limits.h alone has those.
#pragma once

#include <cstdint>

#include "limits.h"

namespace varve {

/// The limits of one store. The defaults are the limits of the table service. They are stored when the store is
/// created, because they change its answers. Later opens use the stored limits; an open that asks for others is
/// refused.
///
/// Each limit is at least 1 and at most its maximum below, which the file format and the log set.
/// `string_code_units_max` counts UTF-16 code units of two bytes, so its maximum is half of kEntityBytesCeiling.
/// `filter_comparisons_max` has no maximum.
struct StoreLimits {
  /// UTF-16 code units of PartitionKey and of RowKey, each. A key also has at most kKeyBytesMax bytes of UTF-8; this
  /// matters only if the limit is above 1,024.
  std::uint32_t key_code_units_max = limits::kKeyCodeUnitsMax;
  /// Properties of an entity after the operation, without PartitionKey, RowKey and Timestamp.
  std::uint32_t custom_properties_max = limits::kCustomPropertiesMax;
  /// UTF-16 code units of a String value.
  std::uint32_t string_code_units_max = limits::kStringCodeUnitsMax;
  /// Bytes of a Binary value.
  std::uint32_t binary_bytes_max = limits::kBinaryBytesMax;
  /// Bytes of an entity, counted as D-60 says (accounted_size_bytes() in types.h).
  std::uint32_t entity_bytes_max = limits::kEntityBytesMax;
  /// Operations of one entity group transaction.
  std::uint32_t transaction_operations_max = limits::kTransactionOperationsMax;
  /// Bytes of the operations as they are encoded. Must not be below entity_bytes_max.
  std::uint32_t transaction_bytes_max = limits::kTransactionBytesMax;
  /// Entities in one page of a scan.
  std::uint32_t page_entities_max = limits::kPageEntitiesMax;
  /// Comparisons in one filter, where each value of an `in` list is one. The service documents 15
  /// (limits::kStrictFilterComparisonsMax) but accepts more, as this store does.
  std::uint32_t filter_comparisons_max = UINT32_MAX;
  /// Appends of which one append blob is made (BA-04). An append of more than 1 MiB as a stream stays a content of its own,
  /// and a blob has at most 130,816 of these, whatever the limit.
  std::uint32_t blob_appends_max = limits::kAppendsMax;

  bool operator==(const StoreLimits&) const = default;

  /// Bytes of PartitionKey and of RowKey in UTF-8, each. This limit is the same for all stores.
  static constexpr std::uint32_t kKeyBytesMax = 3072;
  /// Maximum of key_code_units_max.
  static constexpr std::uint32_t kKeyCodeUnitsCeiling = 3072;
  /// Maximum of custom_properties_max.
  static constexpr std::uint32_t kCustomPropertiesCeiling = 65'000;
  /// Maximum of entity_bytes_max and binary_bytes_max, in bytes. Half of it is the maximum of string_code_units_max.
  static constexpr std::uint32_t kEntityBytesCeiling = 16u << 20;
  /// Maximum of transaction_operations_max.
  static constexpr std::uint32_t kTransactionOperationsCeiling = 100'000;
  /// Maximum of transaction_bytes_max, in bytes.
  static constexpr std::uint32_t kTransactionBytesCeiling = 32u << 20;
  /// Maximum of page_entities_max, in entities.
  static constexpr std::uint32_t kPageEntitiesCeiling = 1'000'000;
  /// Maximum of blob_appends_max, in appends.
  static constexpr std::uint32_t kBlobAppendsCeiling = INT32_MAX;
};

}  // namespace varve
