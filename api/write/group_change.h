// Owns: commits of one partition's entities together with messages, with the owners of large values, or with the locks of
// values in unique indexes.
// Must never: let a message count as an operation.
#pragma once

#include <span>

#include "api/core/store_core.h"
#include "api/write/entity_write.h"
#include "varve/options.h"
#include "varve/queue.h"
#include "varve/result.h"
#include "varve/table.h"

namespace varve {

/// Checks what the messages add to the transaction: their number, and the bytes of their texts together with those of the
/// entities. Errors: kTooLarge, with the index of the message after all operations.
Status check_group_messages(std::span<const WriteOperation> operations, std::span<const MessageWrite> messages,
                            const StoreLimits& limits);

/// Commits the writes and the messages, or none of both. `writes` are the prepared operations. If a queue was cleared
/// meanwhile, makes another attempt. Errors: as Table::execute_with_messages.
Result<ExecutedTransaction> commit_group(StoreCore& core, const TableName& name, NameEntry& entry,
                                         std::span<const WriteOperation> operations, std::span<PreparedWrite> writes,
                                         std::span<const MessageWrite> messages, const WriteOptions& options);

/// Does commit_writes() for a table with large values or with a unique index. Makes another attempt if an entity was changed
/// meanwhile so that it names other contents, or has another value of the index. Errors: those of commit_writes(); kNotFound (LargeValueNotFound).
Result<ETag> commit_owning_writes(StoreCore& core, const TableName& name, NameEntry& entry,
                                  std::span<PreparedWrite> writes, const WriteOptions& options, bool in_transaction);

}  // namespace varve
