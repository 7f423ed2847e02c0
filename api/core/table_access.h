// Owns: the restrictions of a table handle, in the form that the verbs need.
// Must never: permit more. The restrictions made from other ones are inside those.
//
// Every verb requests a Grant once, at its beginning, and passes it to the functions that take keys. Writes pass it to
// prepare_put() and prepare_remove(), reads to read_entity(), read_entities() and read_page().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/filter/key_plan.h"
#include "format/keys/sort_key.h"
#include "varve/access.h"
#include "varve/result.h"
#include "varve/transaction.h"

namespace varve {

/// An interval of sort keys without the table id.
class KeyFence {
 public:
  /// Contains all keys.
  KeyFence() = default;
  /// Errors: kInvalidArgument (InvalidInput: a bound is not UTF-8).
  static Result<KeyFence> of(const KeyInterval& interval);

  KeyFence intersected(const KeyFence& other) const;
  bool is_everything() const noexcept { return lower_.empty() && !upper_; }
  /// `key` is a sort key.
  bool contains(std::string_view key) const noexcept;
  /// Returns the part of a range of the table's keys that is inside. The part may be empty: lower >= upper.
  KeyRange within(KeyRange range, format::TableId table) const;

 private:
  std::string lower_;
  /// Exclusive. If not set, there is no upper bound.
  std::optional<std::string> upper_;
};

class TableAccess;

/// The permissions of a verb at the time when it began. Copies are cheap.
class Grant {
 public:
  /// Permits everything, as for a handle without restrictions.
  Grant() = default;
  /// `access` must not be null.
  Grant(Permissions permissions, std::shared_ptr<const TableAccess> access) noexcept
      : permissions_(permissions), access_(std::move(access)) {}

  // Errors: kForbidden (AuthorizationPermissionMismatch: a permission is missing; AuthorizationFailure: the key is
  // outside, S-26, or only the service writes the table, AM-05), kInvalidArgument (InvalidInput: the key is not UTF-8).
  Status check_query() const;
  Status check_read(std::string_view partition_key, std::string_view row_key) const {
    if (access_ == nullptr) [[likely]]
      return Status();  // A handle without restrictions has all permissions.
    return check_restricted_read(partition_key, row_key);
  }
  Status check_write(WriteOperation::Kind kind, std::string_view partition_key, std::string_view row_key) const;
  /// Returns whether every verb on every entity is permitted.
  bool is_everything() const noexcept { return access_ == nullptr && permissions_ == Permissions::all(); }
  /// Returns whether every entity of the table may be read.
  bool sees_every_entity() const noexcept { return access_ == nullptr || may_query_everything(); }
  /// Permits a content for an entity that is added or updated later.
  Status check_write_content() const;
  /// Returns the part of a range that a scan may see (S-26).
  KeyRange within(KeyRange range, format::TableId table) const;

 private:
  bool may_query_everything() const noexcept;
  Status check_restricted_read(std::string_view partition_key, std::string_view row_key) const;
  Status check_permissions(Permissions needed) const;
  Status check_key(std::string_view partition_key, std::string_view row_key) const;

  Permissions permissions_ = Permissions::all();
  std::shared_ptr<const TableAccess> access_;  // null: all keys
};

/// All restrictions of a table handle, combined. Immutable.
class TableAccess : public std::enable_shared_from_this<TableAccess> {
 public:
  /// `before` may be null. Errors: kInvalidArgument (InvalidInput: a bound is not UTF-8).
  static Result<std::shared_ptr<const TableAccess>> restricted(const TableAccess* before, const Access& access);

  /// Returns the access of everyone to a metrics table: reads and removes. Source: AM-05.
  static std::shared_ptr<const TableAccess> to_metrics();

  /// Evaluates the rules. Errors: those of the rules.
  Result<Grant> grant() const;
  /// Returns true if grant() may wait, because one of the rules may.
  bool may_wait() const noexcept;
  const KeyFence& fence() const noexcept { return fence_; }
  /// Returns whether only the service writes entities of the table.
  bool is_to_metrics() const noexcept { return is_to_metrics_; }

 private:
  bool is_to_metrics_ = false;
  Permissions permissions_ = Permissions::all();
  KeyFence fence_;
  std::vector<std::shared_ptr<const AccessRule>> rules_;
};

}  // namespace varve
