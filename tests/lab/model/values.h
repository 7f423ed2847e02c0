// Owns: what the numbers of operations stand for: names, keys, entities, ranges, conditions, policies.
// Must never: depend on anything but the number; the files in regressions/ mean what they mean by these functions, so
// new values are added at ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "varve/access_policy.h"
#include "varve/query.h"
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
/// kTables of them; beyond those, the same in other spellings.
TableName table_name(std::uint32_t number);

/// What is wrong with a key where one is written.
enum class KeyProblem : std::uint8_t { kNone, kForbidden, kTooLong };
struct KeyText {
  std::string text;
  KeyProblem problem = KeyProblem::kNone;
};
/// The first kLegalKeys may be written; the others up to kKeys may not.
inline constexpr std::uint32_t kLegalKeys = 24;
inline constexpr std::uint32_t kKeys = kLegalKeys + 3;
const KeyText& key_of(std::uint32_t number);

/// Most have a few properties, of all types; some are as large as the limits let them be, or a little larger.
Entity entity_of(const std::string& partition, const std::string& row, std::uint32_t number);
/// Numbers whose entities are small and within all limits.
std::uint32_t plain_entity(std::uint32_t number);
/// The tag that a write with this entity carries; empty for most.
std::string tag_of(std::uint32_t entity);

ScanRange range_of(std::uint32_t number);

enum class Condition : std::uint8_t { kCurrent, kAny, kOld, kNone };
Condition condition_of(std::uint32_t number);

std::vector<AccessPolicy> policies_of(std::uint32_t number);

/// In the order of UTF-16 code units, which is that of keys.
std::u16string code_units(const std::string& utf8);

}  // namespace varve::lab
