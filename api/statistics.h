// SPDX-License-Identifier: Apache-2.0
// Owns: the figures a store tells about itself.
// Must never: be needed for correctness by anybody.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// What the open found and did.
struct RecoveryStatistics {
  /// The store was closed cleanly.
  bool clean = true;
  std::uint64_t log_records = 0;
  std::uint64_t commits = 0;
  std::uint64_t log_bytes = 0;
  /// Commits found in the log buffer alone: a power cut in place of a killed process would have taken them.
  std::uint64_t commits_from_buffer = 0;
  /// Bytes behind the last whole record: writes that were never acknowledged.
  std::uint64_t torn_bytes = 0;
};

/// What a checkpoint consists of.
struct CheckpointStatistics {
  /// The last commit in it; zero where there is none.
  DateTime version;
  /// Shared with the store, at no cost of space as long as both have them.
  std::uint64_t files_linked = 0;
  std::uint64_t linked_bytes = 0;
  /// Where the file system gives no links.
  std::uint64_t files_copied = 0;
  std::uint64_t copied_bytes = 0;
};

/// One level of table files. Level 0 holds what memtables became; each further one is larger than the one above it.
struct LevelStatistics {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  /// Entities, their older versions, deletions, catalog rows.
  std::uint64_t entries = 0;
  std::uint64_t deletions = 0;
};

/// Blocks of table files in memory, of all stores that share the cache.
struct CacheStatistics {
  std::uint64_t bytes = 0;
  std::uint64_t bytes_max = 0;
  std::uint64_t blocks = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};

/// Counters are since the open. Each is exact; taken together they are of slightly different moments.
struct Statistics {
  /// How files are reached, "io_uring" or "posix" on a real machine.
  std::string back_end;
  /// Log writes pass the page cache by.
  bool direct_io = false;
  Health health = Health::kHealthy;
  bool read_only = false;
  Durability default_durability = Durability::kSync;
  /// The last commit that reads see.
  DateTime visible_version;

  std::uint64_t commits = 0;
  /// Commits refused for want of space, or because their table was dropped before their turn.
  std::uint64_t commits_refused = 0;
  /// Groups of commits that went to the log together.
  std::uint64_t groups = 0;
  std::uint64_t log_writes = 0;
  /// What callers wrote, encoded, and what the log wrote for it, filling included.
  std::uint64_t batch_bytes = 0;
  std::uint64_t log_bytes = 0;
  /// Zeros written to prepare log space; they count as writes to the device too.
  std::uint64_t fill_bytes = 0;
  std::uint64_t log_segments = 0;
  /// Bytes of log that recovery would read now.
  std::uint64_t live_log_bytes = 0;
  std::uint64_t manifest_bytes = 0;

  /// Entries in memory: entities, their older versions, deletions, catalog rows.
  std::uint64_t memtable_entries = 0;
  std::uint64_t memtable_bytes = 0;
  std::uint64_t memtable_bytes_max = 0;
  /// Level 0 first.
  std::vector<LevelStatistics> levels;
  /// Value files: log segments that stay since large values (16 KiB and more) in them are written nowhere else. Their
  /// bytes, and how many of these entities still use.
  std::uint64_t value_files = 0;
  std::uint64_t value_file_bytes = 0;
  std::uint64_t value_file_live_bytes = 0;
  CacheStatistics cache;
  /// Blocks read from table files for readers, and their bytes as stored.
  std::uint64_t block_reads = 0;
  std::uint64_t block_read_bytes = 0;
  /// Memtables written to table files, and the bytes of these.
  std::uint64_t flushes = 0;
  std::uint64_t flushed_bytes = 0;
  /// Compactions, what they read and wrote, and files that changed their level or went without being read.
  std::uint64_t compactions = 0;
  std::uint64_t compaction_read_bytes = 0;
  std::uint64_t compaction_written_bytes = 0;
  /// Of those written, what was copied by whole runs, neither decompressed nor merged.
  std::uint64_t compaction_copied_bytes = 0;
  std::uint64_t moved_files = 0;
  std::uint64_t unlinked_files = 0;
  /// What compaction has still to rewrite until every level is within its target, and what drops have left that is to
  /// be given back.
  std::uint64_t compaction_debt_bytes = 0;
  /// Of that: what the log, table files and value files hold of dropped tables. Of value files it is all that no entity
  /// uses, where that is worth giving back.
  std::uint64_t dead_log_bytes = 0;
  std::uint64_t dead_table_bytes = 0;
  std::uint64_t dead_value_bytes = 0;
  /// What writes have waited, all together, because flushes and compactions were behind.
  std::chrono::nanoseconds write_wait{0};
  /// Tables that loaders finished, their entities, and the bytes that all loaders wrote to files, for sorting too.
  std::uint64_t loads = 0;
  std::uint64_t loaded_entities = 0;
  std::uint64_t load_written_bytes = 0;
  /// Dropped tables and accounts of which bytes remain.
  std::uint64_t retired_ids = 0;
  std::uint64_t open_snapshots = 0;
  /// How often a write had to wait for another one of its partition.
  std::uint64_t partition_waits = 0;
  /// The wall clock jumped ahead by more than an hour and is not followed until the store is reopened.
  bool clock_jump_ignored = false;
  /// How far the store's clock of commits is ahead of the machine's; zero where it is not. Once the machine's clock was
  /// ahead, every later Timestamp stays there until the machine's clock has come as far.
  std::chrono::seconds clock_ahead{0};
  /// Disk space that the store sets aside in its file BALLAST, so that drops and the close succeed on a full disk. A
  /// full disk may have taken it.
  std::uint64_t ballast_bytes = 0;

  RecoveryStatistics recovery;
};

}  // namespace varve

#pragma GCC visibility pop
