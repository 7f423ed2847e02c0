// SPDX-License-Identifier: Apache-2.0
// Owns: the rule by which the entities of a table end.
// Must never: say anything about entities that were written under another rule.
//
//   store->create_table("myaccount", "Sessions", {.expiry = TableExpiry::after(std::chrono::minutes(30))});
//   store->set_table_expiry("myaccount", "Events", TableExpiry::at("KeepUntil"));
//   store->set_table_expiry("myaccount", "Events", std::nullopt);
//
// An entity has its end from the write that stored it: a DateTime property of the entity, or an age after its Timestamp.
// From that time on it is absent, to every read and to every condition of a write: it can be inserted again, a replace of
// it is not found, and no count and no page has it. Nothing needs to run for that. Compaction gives the space back.
//
// The time is the clock of Timestamps. It never goes back, and does not follow a wall clock that jumps ahead by more than
// an hour while the store is open. A snapshot sees the store at the time at which it was taken, so its answers never
// change. After a crash the time continues above every Timestamp that was acknowledged. If the wall clock was set back as
// well, an end that only reads had seen may lie ahead again.
//
// Another rule, or none, concerns the writes that begin after the change. Entities that were written before keep their
// ends until they are written again.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "result.h"
#include "version.h"

namespace varve {

/// Exactly one of the two is set.
struct TableExpiry {
  /// The longest age: 100 years of 365.25 days.
  static constexpr std::chrono::milliseconds kAgeMax = std::chrono::hours(24) * 36'525;

  /// The name of a DateTime property: an entity ends at its value. An entity without the property, or with a property of
  /// this name and another type, has no end.
  std::string property{};
  /// An entity ends this long after its Timestamp: 1 ms to kAgeMax.
  std::chrono::milliseconds age{0};

  /// Returns the rule that an entity ends at the value of this property.
  static TableExpiry at(std::string_view property_name) { return {std::string(property_name), {}}; }
  /// Returns the rule that an entity ends this long after its Timestamp.
  static TableExpiry after(std::chrono::milliseconds age) { return {{}, age}; }

  bool operator==(const TableExpiry&) const = default;
};

/// Errors: kInvalidArgument (InvalidInput: none or both are set, an age out of its range, or the name of a system
/// property; PropertyNameInvalid), kTooLarge (PropertyNameTooLong).
VARVE_EXPORT Status check_table_expiry(const TableExpiry& expiry);

}  // namespace varve
