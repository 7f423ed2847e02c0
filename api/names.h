// SPDX-License-Identifier: Apache-2.0
// Owns: the rules of names and keys: accounts, tables, PartitionKey and RowKey, properties.
// Must never: look at a store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "status.h"
#include "store_limits.h"

#pragma GCC visibility push(default)

namespace varve {

/// Errors: kInvalidArgument (InvalidResourceName). Source: D-03.
Status check_account_name(std::string_view name);

/// Errors: kInvalidArgument (OutOfRangeInput: length; InvalidResourceName: characters; InvalidInput: reserved).
/// Source: D-04, D-05, D-06, B-02.
Status check_table_name(std::string_view name);
/// A to Z as a to z, everything else as it is: what table names are compared by.
std::string lower_case(std::string_view name);

enum class KeyUse : std::uint8_t {
  kInsert,  // comes with the entity
  kUpdate,  // names the entity to be written
  kLookup,  // names the entity to be read or deleted
};

/// Errors: kInvalidArgument (InvalidInput: not UTF-8, `/` or `\` where the key names an entity; OutOfRangeInput: other
/// forbidden characters). Whether it is too long is not judged here. `which` is PartitionKey or RowKey.
/// Source: D-10, D-11, D-13.
Status check_key_characters(std::string_view key, std::string_view which, KeyUse use);
/// Of valid UTF-8. Source: D-12.
bool is_key_too_long(std::string_view key, const StoreLimits& limits = {}) noexcept;
/// All that a key that is written must keep. Errors: as above, and kTooLarge (PropertyValueTooLarge).
Status check_written_key(std::string_view key, std::string_view which, KeyUse use, const StoreLimits& limits = {});

/// Errors: kInvalidArgument (PropertyNameInvalid; InvalidInput: not UTF-8), kTooLarge (PropertyNameTooLong). Nothing is
/// said here about the names of system properties. Source: D-20, X-04, X-12.
Status check_property_name(std::string_view name);

}  // namespace varve

#pragma GCC visibility pop
