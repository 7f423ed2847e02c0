// SPDX-License-Identifier: Apache-2.0
// Owns: the rights of a table handle: permissions, a key interval, and a rule that is evaluated at each operation.
// Must never: know how a caller proves its identity. The library varve_security verifies signatures.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "result.h"
#include "status.h"
#include "version.h"

namespace varve {

/// One kind of access to entities or messages. Source: S-21, S-24, QS-12, BS-12.
enum class Permission : std::uint16_t {
  /// Permits reads: get(), get_many(), scan(), list_rows(), count(), aggregate() and explain().
  kQuery = 1,
  /// Permits inserts. insert_or_replace() and insert_or_merge() need both kAdd and kUpdate.
  kAdd = 2,
  /// Permits replaces and merges.
  kUpdate = 4,
  /// Permits removes.
  kRemove = 8,
  /// Permits a consumer to get and delete messages. Only policies of queues have it. Source: QS-12.
  kProcess = 16,
  /// Permits to write a blob that does not exist yet. Only signatures and policies of blobs have this and the following.
  /// Source: BS-12.
  kCreate = 32,
  /// Permits to write and replace a blob, and to change its state.
  kWrite = 64,
  /// Permits to list blobs.
  kList = 128,
  /// Permits to read and change tags.
  kTags = 256,
};

/// A set of permissions.
class VARVE_EXPORT Permissions {
 public:
  /// Makes the empty set.
  constexpr Permissions() noexcept = default;
  /// Makes the set of these permissions. A permission may occur twice.
  constexpr Permissions(std::initializer_list<Permission> these) noexcept {
    for (const Permission one : these) bits_ = static_cast<std::uint16_t>(bits_ | static_cast<std::uint16_t>(one));
  }
  /// Returns the set of all four permissions for entities.
  static constexpr Permissions all() noexcept {
    return {Permission::kQuery, Permission::kAdd, Permission::kUpdate, Permission::kRemove};
  }

  /// Parses a subset of `raud` in that order, for example `ru`. The empty text is the empty set.
  /// Errors: kInvalidArgument (InvalidXmlNodeValue: any other text). Source: S-21, S-41.
  static Result<Permissions> parse(std::string_view letters);
  /// Returns the set of all four permissions for messages.
  static constexpr Permissions all_for_queues() noexcept {
    return {Permission::kQuery, Permission::kAdd, Permission::kUpdate, Permission::kProcess};
  }
  /// Parses permissions for messages: a subset of `raup`, in any order, for example `pr`. With `r` the holder may peek
  /// and read metadata, with `a` put, with `u` update, and with `p` get and delete. The empty text is the empty set.
  /// Errors: kInvalidArgument (InvalidXmlNodeValue: any other text). Source: QS-12, QB-09.
  static Result<Permissions> parse_for_queue(std::string_view letters);
  /// Returns the set of all permissions for blobs.
  static constexpr Permissions all_for_blobs() noexcept {
    return {Permission::kQuery,  Permission::kAdd,  Permission::kCreate, Permission::kWrite,
            Permission::kRemove, Permission::kList, Permission::kTags};
  }
  /// Parses permissions for blobs: a subset of `racwdlt`, in any order. The letters `xyfmeopi` name permissions that give
  /// nothing here; they are left out. Errors: kInvalidArgument (InvalidXmlNodeValue: any other text, or a letter twice).
  /// Source: BS-12.
  static Result<Permissions> parse_for_blob(std::string_view letters);
  /// Returns the letters of the set in the order `racwudplt`. parse() reads those of a table, parse_for_queue() those of
  /// a queue, and parse_for_blob() those of a container. The empty set gives an empty text.
  std::string to_string() const;

  /// Returns whether the set permits nothing.
  constexpr bool empty() const noexcept { return bits_ == 0; }
  /// Returns whether every permission of `others` is in this set. The empty set is in every set.
  constexpr bool contains(Permissions others) const noexcept { return (bits_ & others.bits_) == others.bits_; }
  /// Returns the permissions that are in both sets.
  constexpr Permissions intersected(Permissions others) const noexcept {
    Permissions both;
    both.bits_ = bits_ & others.bits_;
    return both;
  }
  constexpr bool operator==(const Permissions&) const = default;

 private:
  std::uint16_t bits_ = 0;
};

/// One end of a key interval. The interval includes the bound. If `row_key` is absent, the bound covers the whole
/// partition.
struct KeyBound {
  /// Any UTF-8 text; it need not be a legal key.
  std::string partition_key;
  /// Absent for a bound that covers the whole partition.
  std::optional<std::string> row_key{};
  bool operator==(const KeyBound&) const = default;
};

/// The entities from one key to another in key order, which is the order of scans. The bounds compare as pairs
/// (PartitionKey, RowKey), not as two separate ranges. For example, the interval from ("a", "5") to ("c", "7") contains
/// ("b", "9"). An absent bound leaves its side open. Source: S-25.
struct KeyInterval {
  /// The lower bound. Absent: the interval begins at the first key of the table.
  std::optional<KeyBound> from{};
  /// The upper bound. Absent: the interval ends at the last key of the table.
  std::optional<KeyBound> to{};
  bool operator==(const KeyInterval&) const = default;
};

/// Checks that the bounds are UTF-8 texts. Bounds need not be legal keys.
/// Errors: kInvalidArgument (InvalidInput: a bound is not UTF-8).
VARVE_EXPORT Status check_key_interval(const KeyInterval& interval);

/// Decides anew at each operation what a handle may do. So access can expire or be revoked.
class VARVE_EXPORT AccessRule {
 public:
  virtual ~AccessRule() = default;
  /// Returns the permissions that hold now. The store calls it on any thread at the start of each operation, before it
  /// reads or changes anything. The rule may read the store, but not through a handle that the rule restricts. If the
  /// rule returns an error, the operation fails with that error.
  virtual Result<Permissions> permitted() const = 0;
  /// Returns whether permitted() may block, for example on a read of the store. If it returns false, an asynchronous
  /// operation calls permitted() on its current thread. That saves the switch to a worker thread and back.
  virtual bool may_wait() const noexcept { return true; }
};

/// The restriction that Table::restricted_to() applies. The new handle may do only what both the old handle and this
/// restriction permit. If `rule` is null, no rule is evaluated.
struct Access {
  /// What the handle may do with the entities inside `interval`.
  Permissions permissions = Permissions::all();
  /// The keys that the handle may reach. By default, all keys.
  KeyInterval interval{};
  /// A rule that restricts `permissions` further at each operation, or null.
  std::shared_ptr<const AccessRule> rule{};
};

}  // namespace varve
