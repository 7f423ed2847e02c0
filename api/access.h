// SPDX-License-Identifier: Apache-2.0
// Owns: what the bearer of a table handle may do: permissions, an interval of keys, and a rule that is asked each time.
// Must never: know how somebody shows who they are; signatures are verified elsewhere (security/).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "result.h"
#include "status.h"

#pragma GCC visibility push(default)

namespace varve {

/// Source: S-21, S-24.
enum class Permission : std::uint8_t {
  kQuery = 1,
  /// Inserts. An upsert needs kAdd and kUpdate.
  kAdd = 2,
  /// Replaces and merges.
  kUpdate = 4,
  kDelete = 8,
};

/// A set of permissions.
class Permissions {
 public:
  constexpr Permissions() noexcept = default;
  constexpr Permissions(std::initializer_list<Permission> these) noexcept {
    for (const Permission one : these) bits_ = static_cast<std::uint8_t>(bits_ | static_cast<std::uint8_t>(one));
  }
  static constexpr Permissions all() noexcept {
    return {Permission::kQuery, Permission::kAdd, Permission::kUpdate, Permission::kDelete};
  }

  /// A subset of `raud`, in that order; the empty text is none. Errors: kInvalidArgument (InvalidXmlNodeValue).
  /// Source: S-21, S-41.
  static Result<Permissions> parse(std::string_view letters);
  std::string to_string() const;

  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr bool contains(Permissions others) const noexcept { return (bits_ & others.bits_) == others.bits_; }
  constexpr Permissions intersected(Permissions others) const noexcept {
    Permissions both;
    both.bits_ = bits_ & others.bits_;
    return both;
  }
  constexpr bool operator==(const Permissions&) const = default;

 private:
  std::uint8_t bits_ = 0;
};

/// One end of an interval, which belongs to it. Without a RowKey it is the whole partition.
struct KeyBound {
  std::string partition_key;
  std::optional<std::string> row_key{};
  bool operator==(const KeyBound&) const = default;
};

/// Entities from one key to another in the order of keys, which is that of scans: tuple bounds, not a rectangle. From
/// ("a", "5") to ("c", "7") holds ("b", "9"). Source: S-25.
struct KeyInterval {
  std::optional<KeyBound> from{};
  std::optional<KeyBound> to{};
  bool operator==(const KeyInterval&) const = default;
};

/// Bounds need not be legal keys, but texts. Errors: kInvalidArgument (InvalidInput: not UTF-8).
Status check_key_interval(const KeyInterval& interval);

/// Says anew at each verb what is permitted, so that what was given can end by time or be taken back.
class AccessRule {
 public:
  virtual ~AccessRule() = default;
  /// Called on any thread, at the beginning of each verb, before anything is read or changed. It may read the store,
  /// but not through a handle that it is a rule of. An error refuses the verb and is its answer.
  virtual Result<Permissions> permitted() const = 0;
  /// Whether permitted() may wait for anything, as for a read of the store. One that does not is asked by asynchronous
  /// verbs where they are, and spares them the way to a thread that may wait and back.
  virtual bool may_wait() const noexcept { return true; }
};

/// What Table::restricted_to() leaves of what a handle could do.
struct Access {
  Permissions permissions = Permissions::all();
  KeyInterval interval{};
  std::shared_ptr<const AccessRule> rule{};
};

}  // namespace varve

#pragma GCC visibility pop
