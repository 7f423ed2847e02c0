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
#include "varve/limits.h"

namespace varve {
namespace {

/// The change by one partition's writes and by messages.
class GroupChange final : public EntityChange {
 public:
  GroupChange(StoreCore& core, std::vector<format::TableId> tables, std::span<PreparedWrite> writes,
              const WriteOptions& options, MessagePart& messages)
      : EntityChange(core, std::move(tables), writes, options, true, Writes::kKept, &messages),
        hashes_(messages.locks()) {
    const std::span<const std::uint64_t> partition = EntityChange::locks_needed();
    hashes_.insert(hashes_.end(), partition.begin(), partition.end());
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    paced_bytes += messages.bytes();
  }

  std::span<const std::uint64_t> locks_needed() const noexcept override { return hashes_; }

 private:
  std::vector<std::uint64_t> hashes_;
};

std::vector<const MessageWrite*> pointers_to(std::span<const MessageWrite> messages) {
  std::vector<const MessageWrite*> pointers;
  pointers.reserve(messages.size());
  for (const MessageWrite& message : messages) pointers.push_back(&message);
  return pointers;
}

std::vector<format::TableId> with_table(std::vector<format::TableId> queues, format::TableId table) {
  queues.push_back(table);
  std::sort(queues.begin(), queues.end());
  return queues;
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
  for (;;) {
    const Result<format::TableId> table = core.catalog().resolve_for_write(name, entry);
    if (!table.ok()) return no_table_to_write(table.status(), true);
    place_writes(writes, *table);
    const Result<std::unique_ptr<MessagePart>> part = MessagePart::make(core, pointers_to(messages), operations.size());
    if (!part.ok()) return part.status();
    GroupChange change(core, with_table((*part)->queues(), *table), writes, options, **part);
    const Result<engine::CommitVersion> version = commit(core.backend(), change);
    if (version.ok()) {
      set_etags(operations, ETag::of_timestamp(DateTime{*version}), done.etags);
      done.sent = (*part)->committed(*version);
      return done;
    }
    if (service_error::is_table_gone(version.status())) {
      const Result<bool> moved = (*part)->has_moved();
      if (!moved.ok()) return moved.status();
      if (*moved) continue;
    }
    const bool asks_again = rests_on_an_entity(version.status());
    return reported_failure(version.status(), name, *table,
                            asks_again ? core.catalog().resolve_for_write(name, entry) : table, true);
  }
}

}  // namespace varve
