// SPDX-License-Identifier: Apache-2.0
// Owns: the figures that a store reports about itself. A leaf header: the engine fills these structs.
// Must never: be needed for correctness. No code decides by a figure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "date_time.h"
#include "durability.h"

namespace varve {

/// The state of the log as the open found it.
struct RecoveryStatistics {
  /// True if the store was closed cleanly before.
  bool clean = true;
  /// Whole records that the open read from the log.
  std::uint64_t log_records = 0;
  /// Commits in these records that the table files did not hold yet.
  std::uint64_t commits = 0;
  /// Bytes of log that these records take.
  std::uint64_t log_bytes = 0;
  /// Commits that only the log buffer held. The process was killed, which did not lose them; a power cut would have. Zero
  /// where the log buffer dies with its process; see Statistics::buffered_dies_with_process.
  std::uint64_t commits_from_buffer = 0;
  /// Bytes after the last whole record of the log. They belong to writes that were never acknowledged.
  std::uint64_t torn_bytes = 0;
};

/// What a load has done so far.
struct LoadProgress {
  /// Entities that add() accepted.
  std::uint64_t entities = 0;
  /// Encoded bytes of keys and properties, before compression.
  std::uint64_t bytes = 0;
  /// Entities that had to be sorted: the first one that was added out of key order, and all entities added after it.
  std::uint64_t sorted_entities = 0;
  /// Bytes written to files, including the files used for sorting.
  std::uint64_t written_bytes = 0;
};

/// The files of a checkpoint.
struct CheckpointStatistics {
  /// The last commit in the checkpoint; zero if there is none.
  DateTime version;
  /// Files shared with the store by hard links. They take no extra disk space as long as both stores have them.
  std::uint64_t files_linked = 0;
  /// Sum of the sizes of the linked files, in bytes.
  std::uint64_t linked_bytes = 0;
  /// Files copied because the file system does not support links.
  std::uint64_t files_copied = 0;
  /// Sum of the sizes of the copied files, in bytes.
  std::uint64_t copied_bytes = 0;
};

/// One level of table files. Level 0 holds flushed memtables. Each further level is larger than the level above it.
struct LevelStatistics {
  /// Table files in the level.
  std::uint64_t files = 0;
  /// Sum of the sizes of these files, in bytes.
  std::uint64_t bytes = 0;
  /// Entities, older versions of them, deletions and catalog rows.
  std::uint64_t entries = 0;
  /// The part of `entries` that are deletions.
  std::uint64_t deletions = 0;
};

/// The block cache: blocks of table files in memory. All stores that share the cache report the same figures.
struct CacheStatistics {
  /// Bytes of memory that the cache uses.
  std::uint64_t bytes = 0;
  /// Upper bound of `bytes`. Zero if the cache is off.
  std::uint64_t bytes_max = 0;
  /// Blocks in the cache.
  std::uint64_t blocks = 0;
  /// Lookups that found their block in the cache.
  std::uint64_t hits = 0;
  /// Lookups that did not find their block.
  std::uint64_t misses = 0;
};

/// The figures of one store. Counters start at zero when the store opens. Each figure is exact, but two figures may be
/// from slightly different moments.
struct Statistics {
  /// The way the store accesses files: "io_uring" or "posix" on a real machine.
  std::string back_end;
  /// True if log writes bypass the page cache.
  bool direct_io = false;
  /// Whether the store accepts writes; see Health.
  Health health = Health::kHealthy;
  /// True if the store was opened with StoreOptions::read_only. Its counters of writes are then zero.
  bool read_only = false;
  /// The durability of writes that do not choose one.
  Durability default_durability = Durability::kSync;
  /// True if a killed process loses the `buffered` commits of its last 10 ms, the newest ones: so on Ceph, where no memory
  /// outlives its process. False if only a failure of the machine loses them, as in a directory, or if the store is
  /// read-only.
  bool buffered_dies_with_process = false;
  /// The last commit that reads see.
  DateTime visible_version;

  /// Successful commits: writes, transactions, and changes of accounts and tables.
  std::uint64_t commits = 0;
  /// Commits refused because there was no space, or because their table was dropped first.
  std::uint64_t commits_refused = 0;
  /// Groups of commits; each group was written to the log together.
  std::uint64_t groups = 0;
  /// Writes to log segments.
  std::uint64_t log_writes = 0;
  /// How many of these writes may be in flight at once: 8 after the open, later 1 to 32, as suits the device. Zero in a
  /// read-only store.
  std::uint64_t log_writes_in_flight_max = 0;
  /// Bytes of the commits, as encoded.
  std::uint64_t batch_bytes = 0;
  /// Bytes written to the log for the commits, including padding.
  std::uint64_t log_bytes = 0;
  /// Zero bytes written to prepare log space. They are writes to the device, too.
  std::uint64_t fill_bytes = 0;
  /// Files of the log.
  std::uint64_t log_segments = 0;
  /// Bytes of log that a recovery would read now.
  std::uint64_t live_log_bytes = 0;
  /// Size of the file MANIFEST-*, which lists the files of the store, in bytes.
  std::uint64_t manifest_bytes = 0;

  /// Entries in memory: entities, older versions of them, deletions and catalog rows.
  std::uint64_t memtable_entries = 0;
  /// Bytes of memory that these entries use.
  std::uint64_t memtable_bytes = 0;
  /// Size of the write buffer in bytes. Stores that share a write buffer share these bytes.
  std::uint64_t memtable_bytes_max = 0;
  /// Starts with level 0.
  std::vector<LevelStatistics> levels;
  /// Value files: log segments that the store keeps because they hold the only copy of large values (16 KiB and more).
  std::uint64_t value_files = 0;
  /// Sum of the sizes of the value files, in bytes.
  std::uint64_t value_file_bytes = 0;
  /// The part of `value_file_bytes` that entities still use.
  std::uint64_t value_file_live_bytes = 0;
  /// The block cache of the store.
  CacheStatistics cache;
  /// Reads of blocks and large values from the device. One read may bring several blocks. Blocks that a compaction
  /// merges are counted in compaction_read_bytes instead.
  std::uint64_t block_reads = 0;
  /// Bytes of these reads, as stored.
  std::uint64_t block_read_bytes = 0;
  /// Memtables written to table files.
  std::uint64_t flushes = 0;
  /// Bytes of these table files.
  std::uint64_t flushed_bytes = 0;
  /// Finished compactions, including those that only moved or removed files.
  std::uint64_t compactions = 0;
  /// Bytes that compactions read, as stored.
  std::uint64_t compaction_read_bytes = 0;
  /// Bytes that compactions wrote.
  std::uint64_t compaction_written_bytes = 0;
  /// The part of compaction_written_bytes that was copied in whole runs, without decompressing or merging.
  std::uint64_t compaction_copied_bytes = 0;
  /// Table files that compactions moved to another level without reading them.
  std::uint64_t moved_files = 0;
  /// Table files that compactions removed without reading them, because all their tables were dropped.
  std::uint64_t unlinked_files = 0;
  /// Blocks that the store read back into the cache after the open, because they were cached when the store was used
  /// last.
  std::uint64_t warm_blocks = 0;
  /// Bytes of these blocks, as stored.
  std::uint64_t warm_bytes = 0;
  /// How often the store wrote the list of its cached blocks.
  std::uint64_t warm_lists = 0;
  /// How often that list could not be written, or could not be used at the open.
  std::uint64_t warm_list_failures = 0;
  /// Estimated bytes that compaction must rewrite until every level is within its target, plus the three dead_ figures
  /// below.
  std::uint64_t compaction_debt_bytes = 0;
  /// Bytes of dropped tables in the log.
  std::uint64_t dead_log_bytes = 0;
  /// Bytes of dropped tables in table files.
  std::uint64_t dead_table_bytes = 0;
  /// Bytes of value files that no entity uses, as soon as they are worth reclaiming.
  std::uint64_t dead_value_bytes = 0;
  /// Total time for which writes were slowed down because flushes and compactions could not keep up. It does not
  /// contain waits for a full write buffer.
  std::chrono::nanoseconds write_wait{0};
  /// Tables that loaders finished.
  std::uint64_t loads = 0;
  /// Entities in these tables.
  std::uint64_t loaded_entities = 0;
  /// File bytes that all loaders wrote, including their sort files.
  std::uint64_t load_written_bytes = 0;
  /// Dropped tables and accounts of which the store still holds bytes.
  std::uint64_t retired_ids = 0;
  /// Snapshots of which a copy still exists.
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

  /// The state of the log when the store was opened.
  RecoveryStatistics recovery;
};

}  // namespace varve
