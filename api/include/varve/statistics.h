// SPDX-License-Identifier: Apache-2.0
// Owns: the figures that a store reports about itself.
// Must never: be needed for correctness. No code decides by a figure.
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

/// The state of the log as the open found it.
struct RecoveryStatistics {
  /// True if the store was closed cleanly before.
  bool clean = true;
  std::uint64_t log_records = 0;
  std::uint64_t commits = 0;
  std::uint64_t log_bytes = 0;
  /// Commits that only the log buffer held. A killed process does not lose them; a power cut would have lost them.
  std::uint64_t commits_from_buffer = 0;
  /// Bytes after the last whole record of the log. They belong to writes that were never acknowledged.
  std::uint64_t torn_bytes = 0;
};

/// The files of a checkpoint.
struct CheckpointStatistics {
  /// The last commit in the checkpoint; zero if there is none.
  DateTime version;
  /// Files shared with the store by hard links. They take no extra disk space as long as both stores have them.
  std::uint64_t files_linked = 0;
  std::uint64_t linked_bytes = 0;
  /// Files copied because the file system does not support links.
  std::uint64_t files_copied = 0;
  std::uint64_t copied_bytes = 0;
};

/// One level of table files. Level 0 holds flushed memtables. Each further level is larger than the level above it.
struct LevelStatistics {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  /// Entities, older versions of them, deletions and catalog rows.
  std::uint64_t entries = 0;
  std::uint64_t deletions = 0;
};

/// The block cache: blocks of table files in memory. All stores that share the cache report the same figures.
struct CacheStatistics {
  std::uint64_t bytes = 0;
  std::uint64_t bytes_max = 0;
  std::uint64_t blocks = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};

/// The figures of one store. Counters start at zero when the store opens. Each figure is exact, but two figures may be
/// from slightly different moments.
struct Statistics {
  /// The way the store accesses files: "io_uring" or "posix" on a real machine.
  std::string back_end;
  /// True if log writes bypass the page cache.
  bool direct_io = false;
  Health health = Health::kHealthy;
  bool read_only = false;
  Durability default_durability = Durability::kSync;
  /// The last commit that reads see.
  DateTime visible_version;

  std::uint64_t commits = 0;
  /// Commits refused because there was no space, or because their table was dropped first.
  std::uint64_t commits_refused = 0;
  /// Groups of commits; each group was written to the log together.
  std::uint64_t groups = 0;
  std::uint64_t log_writes = 0;
  /// Bytes of the commits, as encoded, and bytes written to the log for them. The second figure includes padding.
  std::uint64_t batch_bytes = 0;
  std::uint64_t log_bytes = 0;
  /// Zero bytes written to prepare log space. They are writes to the device, too.
  std::uint64_t fill_bytes = 0;
  std::uint64_t log_segments = 0;
  /// Bytes of log that a recovery would read now.
  std::uint64_t live_log_bytes = 0;
  std::uint64_t manifest_bytes = 0;

  /// Entries in memory: entities, older versions of them, deletions and catalog rows.
  std::uint64_t memtable_entries = 0;
  std::uint64_t memtable_bytes = 0;
  std::uint64_t memtable_bytes_max = 0;
  /// Starts with level 0.
  std::vector<LevelStatistics> levels;
  /// Value files: log segments that the store keeps because they hold the only copy of large values (16 KiB and more).
  /// The three figures are their number, their bytes, and the bytes that entities still use.
  std::uint64_t value_files = 0;
  std::uint64_t value_file_bytes = 0;
  std::uint64_t value_file_live_bytes = 0;
  CacheStatistics cache;
  /// Reads of blocks and large values from the device, and the bytes read, as stored. One read may bring several
  /// blocks. Blocks that a compaction merges are counted in compaction_read_bytes instead.
  std::uint64_t block_reads = 0;
  std::uint64_t block_read_bytes = 0;
  /// Memtables written to table files, and the bytes of these table files.
  std::uint64_t flushes = 0;
  std::uint64_t flushed_bytes = 0;
  /// Compactions, and the bytes that they read and wrote. Files that only moved to another level, or were removed
  /// unread, are in moved_files and unlinked_files.
  std::uint64_t compactions = 0;
  std::uint64_t compaction_read_bytes = 0;
  std::uint64_t compaction_written_bytes = 0;
  /// The part of compaction_written_bytes that was copied in whole runs, without decompressing or merging.
  std::uint64_t compaction_copied_bytes = 0;
  std::uint64_t moved_files = 0;
  std::uint64_t unlinked_files = 0;
  /// Estimated bytes that compaction must rewrite until every level is within its target, plus the three dead_ figures
  /// below.
  std::uint64_t compaction_debt_bytes = 0;
  /// Bytes of dropped tables in the log, in table files and in value files. The figure for value files counts all bytes
  /// that no entity uses, as soon as they are worth reclaiming.
  std::uint64_t dead_log_bytes = 0;
  std::uint64_t dead_table_bytes = 0;
  std::uint64_t dead_value_bytes = 0;
  /// Total time for which writes were slowed down because flushes and compactions could not keep up. It does not
  /// contain waits for a full write buffer.
  std::chrono::nanoseconds write_wait{0};
  /// Tables that loaders finished, and their entities. `load_written_bytes` counts the file bytes of all loaders,
  /// including their sort files.
  std::uint64_t loads = 0;
  std::uint64_t loaded_entities = 0;
  std::uint64_t load_written_bytes = 0;
  /// Dropped tables and accounts of which the store still holds bytes.
  std::uint64_t retired_ids = 0;
  std::uint64_t open_snapshots = 0;
  /// How often a write had to wait for another write of its partition.
  std::uint64_t partition_waits = 0;
  /// True if the wall clock jumped ahead by more than an hour. The store ignores that clock until it is reopened.
  bool clock_jump_ignored = false;
  /// How far the store's commit clock is ahead of the machine's clock; zero if it is not ahead. A commit clock never
  /// goes back: if it was ahead once, later Timestamps stay ahead until the machine's clock has caught up.
  std::chrono::seconds clock_ahead{0};
  /// Disk space, in bytes, that the store reserves in its file BALLAST. It lets drops and the close succeed on a full
  /// disk. A full disk may already have used it up.
  std::uint64_t ballast_bytes = 0;

  RecoveryStatistics recovery;
};

}  // namespace varve

#pragma GCC visibility pop
