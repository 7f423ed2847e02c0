// SPDX-License-Identifier: Apache-2.0
// Owns: the rules for names and keys: accounts, tables, PartitionKey and RowKey, properties.
// Must never: read a store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "status.h"
#include "store_limits.h"
#include "version.h"

namespace varve {

/// Checks the name of an account. Errors: kInvalidArgument (InvalidResourceName). Source: D-03.
VARVE_EXPORT Status check_account_name(std::string_view name);

/// Checks the name of a table.
/// Errors: kInvalidArgument (OutOfRangeInput: length; InvalidResourceName: characters; InvalidInput: reserved, or not
/// UTF-8). Source: D-04, D-05, D-06, B-02.
VARVE_EXPORT Status check_table_name(std::string_view name);
/// Checks the name of a table to read: one that check_table_name() accepts, or that of a metrics table such as
/// `$MetricsHourPrimaryTransactionsTable`. Errors: as check_table_name(). Source: AM-01, AM-05.
VARVE_EXPORT Status check_stored_table_name(std::string_view name);
/// Returns the name with A to Z as a to z, and all other characters unchanged. Table names are compared in this form.
VARVE_EXPORT std::string lower_case(std::string_view name);

/// What a key is checked for. The error of a forbidden character depends on it.
enum class KeyUse : std::uint8_t {
  /// The key of an entity to insert.
  kInsert,
  /// The key names an existing entity to write.
  kUpdate,
  /// The key names an entity to read or delete.
  kLookup,
};

/// Checks the characters of a key, but not its length. `which` is PartitionKey or RowKey.
/// Errors: kInvalidArgument (InvalidInput: not UTF-8, or `/` or `\` unless `use` is kInsert; OutOfRangeInput: any other
/// forbidden character). Source: D-10, D-11, D-13.
VARVE_EXPORT Status check_key_characters(std::string_view key, std::string_view which, KeyUse use);
/// Returns whether a key is over the length limit. The key must be valid UTF-8. Source: D-12.
VARVE_EXPORT bool is_key_too_long(std::string_view key, const StoreLimits& limits = {}) noexcept;
/// Checks all rules for a key that is written. Errors: as check_key_characters(), and kTooLarge
/// (PropertyValueTooLarge).
VARVE_EXPORT Status check_written_key(std::string_view key, std::string_view which, KeyUse use,
                                      const StoreLimits& limits = {});

/// Checks the name of a property, but does not refuse the names of system properties.
/// Errors: kInvalidArgument (PropertyNameInvalid; InvalidInput: not UTF-8), kTooLarge (PropertyNameTooLong). Source:
/// D-20, X-04, X-12.
VARVE_EXPORT Status check_property_name(std::string_view name);

}  // namespace varve
