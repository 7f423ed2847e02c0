// Owns: the commit of a partition's entities together with messages (group_change.h).
// Must never: take a lock before all checks that need no lock.
#include "api/write/group_change.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/commit/commit.h"
#include "api/model/entity_codec.h"
#include "api/model/service_error.h"
#include "api/write/entity_change.h"
#include "api/write/message_part.h"
#include "api/write/transaction_parts.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// The change by one partition's writes, and by the parts that its commit has besides.
class GroupChange final : public EntityChange {
 public:
  /// `value_locks` are those of append_value_locks().
  GroupChange(StoreCore& core, std::vector<format::TableId> tables, std::span<PreparedWrite> writes,
              const WriteOptions& options, bool in_transaction, TransactionParts* parts,
              std::vector<std::uint64_t> value_locks)
      : EntityChange(core, std::move(tables), writes, options, in_transaction, Writes::kKept, parts),
        hashes_(std::move(value_locks)) {
    if (parts != nullptr) {
      const std::vector<std::uint64_t> of_parts = parts->locks();
      hashes_.insert(hashes_.end(), of_parts.begin(), of_parts.end());
    }
    const std::span<const std::uint64_t> partition = EntityChange::locks_needed();
    hashes_.insert(hashes_.end(), partition.begin(), partition.end());
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    if (parts != nullptr) paced_bytes += parts->bytes();
  }

  std::span<const std::uint64_t> locks_needed() const noexcept override { return hashes_; }

 private:
  std::vector<std::uint64_t> hashes_;
};

/// What the writes of a group are committed with, and what the commit returns besides its version.
struct Group {
  std::span<PreparedWrite> writes;
  std::span<const MessageWrite> messages;
  bool in_transaction = true;
  std::vector<SentMessage> sent{};
};

std::vector<const MessageWrite*> pointers_to(std::span<const MessageWrite> messages) {
  std::vector<const MessageWrite*> pointers;
  pointers.reserve(messages.size());
  for (const MessageWrite& message : messages) pointers.push_back(&message);
  return pointers;
}

std::vector<format::TableId> with_table(const TransactionParts* parts, format::TableId table) {
  std::vector<format::TableId> ids;
  if (parts != nullptr) ids = parts->tables();
  ids.push_back(table);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Commits the group. Makes another attempt as long as a part asks for one, or the indexes of the table were changed.
Result<ETag> commit_attempts(StoreCore& core, const TableName& name, NameEntry& entry, Group& group,
                             const WriteOptions& options) {
  std::vector<BlobState> no_blobs;
  for (;;) {
    const Result<WriteTarget> table = core.catalog().resolve_target(name, entry);
    if (!table.ok()) return no_table_to_write(table.status(), group.in_transaction);
    place_writes(group.writes, *table);
    if (Status allowed = check_large_values(group.writes, group.in_transaction); !allowed.ok()) return allowed;
    const Result<std::unique_ptr<TransactionParts>> parts =
        TransactionParts::make(core, {group.writes, group.in_transaction}, pointers_to(group.messages), {});
    if (!parts.ok()) return parts.status();
    std::vector<std::uint64_t> value_locks;
    if (Status found = append_value_locks(core, group.writes, value_locks); !found.ok()) return found;
    GroupChange change(core, with_table(parts->get(), table->id), group.writes, options, group.in_transaction,
                       parts->get(), std::move(value_locks));
    const Result<engine::CommitVersion> version = commit(core.backend(), change);
    if (version.ok()) {
      if (*parts) (*parts)->committed(*version, group.sent, no_blobs);
      return ETag::of_timestamp(DateTime{*version});
    }
    if (is_made_for_other_indexes(version.status())) continue;
    if (*parts) {
      const Result<bool> again = (*parts)->may_go_on(version.status());
      if (!again.ok()) return again.status();
      if (*again) continue;
    }
    const bool asks_again = rests_on_an_entity(version.status());
    return reported_failure(version.status(), name, table->id,
                            asks_again ? core.catalog().resolve_for_write(name, entry) : Result(table->id),
                            group.in_transaction);
  }
}

}  // namespace

Status check_group_messages(std::span<const WriteOperation> operations, std::span<const MessageWrite> messages,
                            const StoreLimits& limits) {
  const auto refused = [&](const Status& status, std::size_t message) {
    return status.at_operation(static_cast<std::uint32_t>(operations.size() + message));
  };
  if (messages.size() > limits::kStoreTransactionOperationsMax) {
    return refused(Status::too_large("the transaction has more than " +
                                     std::to_string(limits::kStoreTransactionOperationsMax) + " messages")
                       .with_service_error("InvalidInput"),
                   limits::kStoreTransactionOperationsMax);
  }
  std::size_t bytes = 0;
  for (const WriteOperation& operation : operations) bytes += encoded_size_bytes(operation.entity);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    bytes += messages[i].text() ? messages[i].text()->size() : 0;
    if (bytes <= limits.transaction_bytes_max) continue;
    return refused(
        service_error::request_body_too_large("the entities and messages of the transaction have more than " +
                                              std::to_string(limits.transaction_bytes_max) + " bytes"),
        i);
  }
  return Status();
}

Result<ExecutedTransaction> commit_group(StoreCore& core, const TableName& name, NameEntry& entry,
                                         std::span<const WriteOperation> operations, std::span<PreparedWrite> writes,
                                         std::span<const MessageWrite> messages, const WriteOptions& options) {
  if (Status tag = check_tag(options.tag); !tag.ok()) return tag;
  ExecutedTransaction done;
  done.etags.resize(operations.size());  // Allocated before the commit: nothing may fail after it.
  reserve_patched(writes, done.patched);
  Group group{writes, messages};
  const Result<ETag> etag = commit_attempts(core, name, entry, group, options);
  if (!etag.ok()) return etag.status();
  set_etags(operations, *etag, done.etags);
  done.sent = std::move(group.sent);
  take_patched(writes, *etag, done.patched);
  return done;
}

Result<ETag> commit_owning_writes(StoreCore& core, const TableName& name, NameEntry& entry,
                                  std::span<PreparedWrite> writes, const WriteOptions& options, bool in_transaction) {
  Group group{writes, {}, in_transaction};
  return commit_attempts(core, name, entry, group, options);
}

}  // namespace varve
