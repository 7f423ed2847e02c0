// Owns: the catalog rows of queues: their keys and their content.
// Must never: lose a property of a row that it does not know.
//
//   (0,5) queues     PartitionKey: account name, RowKey: queue name. Properties: Id, optionally Created,
//                    MessageBytesMax (Int32, if it is not the service's limit), ReleaseOnOpen (Boolean, if true),
//                    access policies (policy_rows.h), and for metadata number n, from 0, Meta<n>Name and Meta<n>Value
//                    (String). The numbers have no gaps.
//   (0,7) drops      PartitionKey: account name, RowKey: queue name. No properties (name_release.h)
//   (0,3) service    PartitionKey: empty, RowKey: "queues". Property: Secret
//
// A queue's id is a table's id: a number of its account that NextTable gives (catalog_rows.h). Clearing a queue gives
// it a new one. Secret (Int64) is a random number, drawn with the first queue of the store. Ids and receipts of messages
// contain hashes with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/catalog/catalog_rows.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/queue.h"
#include "varve/result.h"

namespace varve {

inline constexpr format::TableId kQueuesTable = format::make_table_id(0, 5);
inline constexpr format::TableId kQueueDropsTable = format::make_table_id(0, 7);

// Names must be legal.
std::string queue_row_key(std::string_view account, std::string_view queue);
std::string queue_secret_key();
std::string queue_drop_note_key(std::string_view account, std::string_view queue);
/// Returns the common prefix of the keys of all queue rows of an account.
std::string queue_rows_prefix(std::string_view account);

struct QueueRow {
  format::TableId id = 0;
  format::CommitVersion created = 0;
  std::uint32_t message_bytes_max = 0;
  bool release_on_open = false;
  std::vector<MetadataPair> metadata;
};

// `version` is the commit that wrote `value`. Errors: kCorruption, kUnsupported; the message names the row.
Result<QueueRow> decode_queue_row(std::string_view account, std::string_view queue, format::CommitVersion version,
                                  std::string_view value);
Result<std::uint64_t> decode_queue_secret(std::string_view value);

std::string encode_queue_row(format::TableId id, const QueueOptions& options);
std::string encode_queue_secret(std::uint64_t secret);

/// Returns the row with another id, or with other metadata. `row` is the decoded `value`.
Result<std::string> with_queue_id(std::string_view value, const QueueRow& row, format::TableId id);
Result<std::string> with_metadata(std::string_view value, const QueueRow& row,
                                  const std::vector<MetadataPair>& metadata);

}  // namespace varve
