// Owns: the checks of keys and verbs against a handle's restrictions (table_access.h).
// Must never: permit a key that it cannot check.
#include "api/core/table_access.h"

#include <algorithm>
#include <utility>

#include "api/model/quoted.h"
#include "api/model/service_error.h"

namespace varve {
namespace {

using Kind = WriteOperation::Kind;

/// Returns the prefix of the sort keys that the bound names.
Result<std::string> encoded(const KeyBound& bound) {
  std::string text;
  if (Status appended = format::append_text(text, bound.partition_key); !appended.ok()) return appended;
  if (!bound.row_key) return text;
  if (Status appended = format::append_text(text, *bound.row_key); !appended.ok()) return appended;
  return text;
}

Permissions needed_for(Kind kind) noexcept {
  switch (kind) {
    case Kind::kInsert: return {Permission::kAdd};
    case Kind::kReplace:
    case Kind::kMerge: return {Permission::kUpdate};
    case Kind::kInsertOrReplace:
    case Kind::kInsertOrMerge: return {Permission::kAdd, Permission::kUpdate};
    case Kind::kRemove: return {Permission::kRemove};
    case Kind::kPatch: return {Permission::kQuery, Permission::kUpdate};  // A patch returns the entity.
    case Kind::kInsertOrPatch: return {Permission::kQuery, Permission::kAdd, Permission::kUpdate};
  }
  return Permissions::all();
}

}  // namespace

Result<KeyFence> KeyFence::of(const KeyInterval& interval) {
  if (Status checked = check_key_interval(interval); !checked.ok()) return checked;
  KeyFence fence;
  if (interval.from) {
    Result<std::string> lower = encoded(*interval.from);
    if (!lower.ok()) return lower.status();
    fence.lower_ = *std::move(lower);
  }
  if (interval.to) {
    const Result<std::string> last = encoded(*interval.to);
    if (!last.ok()) return last.status();
    fence.upper_ = format::end_of_prefix(*last);  // The bound itself, or its whole partition, is inside.
  }
  return fence;
}

KeyFence KeyFence::intersected(const KeyFence& other) const {
  KeyFence both;
  both.lower_ = std::max(lower_, other.lower_);
  both.upper_ = !upper_ ? other.upper_ : !other.upper_ ? upper_ : std::min(*upper_, *other.upper_);
  return both;
}

bool KeyFence::contains(std::string_view key) const noexcept {
  key.remove_prefix(format::kTableIdBytes);
  return key >= lower_ && (!upper_ || key < *upper_);
}

KeyRange KeyFence::within(KeyRange range, format::TableId table) const {
  if (is_everything()) return range;
  const std::string id = format::encode_table(table);
  range.lower = std::max(range.lower, id + lower_);
  if (upper_) range.upper = std::min(range.upper, id + *upper_);
  return range;
}

Status Grant::check_permissions(Permissions needed) const {
  if (permissions_.contains(needed)) return Status();
  return service_error::permission_mismatch("the operation needs the permissions " + needed.to_string() +
                                            "; this handle has " +
                                            (permissions_.empty() ? "none" : permissions_.to_string()));
}

Status Grant::check_key(std::string_view partition_key, std::string_view row_key) const {
  if (!access_ || access_->fence().is_everything()) return Status();
  const Result<std::string> key = format::encode_sort_key(format::TableId{0}, partition_key, row_key);
  if (!key.ok()) return service_error::invalid_input("a key is not valid UTF-8");
  if (access_->fence().contains(*key)) return Status();
  return service_error::authorization_failure("the entity " + quoted(partition_key) + ", " + quoted(row_key) +
                                              " is outside the range of keys of this handle");
}

bool Grant::may_query_everything() const noexcept {
  return access_->fence().is_everything() && permissions_.contains({Permission::kQuery});
}

Status Grant::check_query() const {
  return check_permissions({Permission::kQuery});
}

Status Grant::check_restricted_read(std::string_view partition_key, std::string_view row_key) const {
  if (Status permitted = check_query(); !permitted.ok()) return permitted;
  return check_key(partition_key, row_key);
}

Status Grant::check_write(Kind kind, std::string_view partition_key, std::string_view row_key) const {
  if (access_ && access_->is_to_metrics() && kind != Kind::kRemove) {
    return service_error::authorization_failure("only the service itself writes tables of metrics");
  }
  if (Status permitted = check_permissions(needed_for(kind)); !permitted.ok()) return permitted;
  return check_key(partition_key, row_key);
}

Status Grant::check_write_content() const {
  if (permissions_.contains(needed_for(Kind::kInsert))) return Status();
  return check_permissions(needed_for(Kind::kMerge));
}

KeyRange Grant::within(KeyRange range, format::TableId table) const {
  return access_ ? access_->fence().within(std::move(range), table) : range;
}

Result<std::shared_ptr<const TableAccess>> TableAccess::restricted(const TableAccess* before, const Access& access) {
  Result<KeyFence> fence = KeyFence::of(access.interval);
  if (!fence.ok()) return fence.status();
  auto made = std::make_shared<TableAccess>();
  made->permissions_ = access.permissions;
  made->fence_ = *std::move(fence);
  if (before != nullptr) {
    made->permissions_ = before->permissions_.intersected(access.permissions);
    made->fence_ = before->fence_.intersected(made->fence_);
    made->rules_ = before->rules_;
    made->is_to_metrics_ = before->is_to_metrics_;
  }
  if (access.rule) made->rules_.push_back(access.rule);
  return std::shared_ptr<const TableAccess>(std::move(made));
}

std::shared_ptr<const TableAccess> TableAccess::to_metrics() {
  auto made = std::make_shared<TableAccess>();
  made->is_to_metrics_ = true;
  return made;
}

bool TableAccess::may_wait() const noexcept {
  return std::any_of(rules_.begin(), rules_.end(), [](const auto& rule) { return rule->may_wait(); });
}

Result<Grant> TableAccess::grant() const {
  Permissions permissions = permissions_;
  for (const std::shared_ptr<const AccessRule>& rule : rules_) {
    const Result<Permissions> permitted = rule->permitted();
    if (!permitted.ok()) return permitted.status();
    permissions = permissions.intersected(*permitted);
  }
  return Grant(permissions, shared_from_this());
}

}  // namespace varve
