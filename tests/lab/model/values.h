// Owns: the meaning of the numbers in operations: names, keys, entities, ranges, conditions, policies.
// Must never: depend on anything except the number. These functions define the meaning of the files in regressions/, so
// new values are only added at the ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "varve/access_policy.h"
#include "varve/query.h"
#include "varve/table_expiry.h"
#include "varve/table_index.h"
#include "varve/transaction.h"
#include "varve/types.h"

namespace varve::lab {

struct TableName {
  std::string account;
  std::string spelling;
  std::string lower;
};
inline constexpr std::uint32_t kTables = 6;
inline constexpr std::uint32_t kAccounts = 2;
std::string account_name(std::uint32_t number);
/// Returns one of kTables names. Larger numbers return the same names in other spellings.
TableName table_name(std::uint32_t number);

/// The error of a key when it is written.
enum class KeyProblem : std::uint8_t { kNone, kForbidden, kTooLong };
struct KeyText {
  std::string text;
  KeyProblem problem = KeyProblem::kNone;
};
/// The first kLegalKeys keys may be written. The others up to kKeys may not.
inline constexpr std::uint32_t kLegalKeys = 24;
inline constexpr std::uint32_t kKeys = kLegalKeys + 3;
const KeyText& key_of(std::uint32_t number);

/// Numbers from here on have the values that were added later: entities with a `Tag` and an `Until`, unique indexes of the
/// tags, and rules under which entities end during a run.
inline constexpr std::uint32_t kLater = 1 << 24;

/// Returns one of a few hundred values of `Tag`. Some are equal though they are spelled differently, and some are too long
/// for a unique index.
Value tag_value(std::uint32_t number);
/// Returns an entity. Most have a few properties of all types. Some are as large as the limits allow, or slightly
/// larger.
Entity entity_of(const std::string& partition, const std::string& row, std::uint32_t number);
/// Returns the number of an entity that is small and within all limits.
std::uint32_t plain_entity(std::uint32_t number);
/// Returns a patch of kPatch, which may have a condition of the form `Count ge 5`, or of kInsertOrPatch. It may increment a
/// property of any type.
WriteOperation patch_of(const std::string& partition, const std::string& row, std::uint32_t number);
/// Returns the tag of a write with this entity. It is empty for most.
std::string tag_of(std::uint32_t entity);

ScanRange range_of(std::uint32_t number);

enum class Condition : std::uint8_t { kCurrent, kAny, kOld, kNone };
Condition condition_of(std::uint32_t number);

std::vector<AccessPolicy> policies_of(std::uint32_t number);

/// Returns the names that a scan selects if it does not return all properties.
const std::vector<std::string>& selection();
/// Returns one of a few indexes of properties and keys of entity_of(). Some of them have the same name. Some have all that
/// the selection names.
IndexDefinition index_of(std::uint32_t number);
/// Returns a rule under which entities end, or none. Below kLater they end at once or long after the run: each DateTime
/// of entity_of() but `Until` lies before every time of a run.
std::optional<TableExpiry> expiry_of(std::uint32_t number);

/// Returns the text as UTF-16 code units, whose order is that of keys.
std::u16string code_units(const std::string& utf8);

}  // namespace varve::lab
