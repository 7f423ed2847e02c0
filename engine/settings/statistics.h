// Owns: the figures that an engine counts about itself.
// Must never: control anything. Correctness never depends on a figure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/cache/block_cache.h"
#include "engine/settings/options.h"
#include "format/keys/internal_key.h"

namespace varve::engine {

struct RecoveryFigures {
  bool clean = true;
  std::uint64_t records = 0;
  std::uint64_t commits = 0;
  std::uint64_t log_bytes = 0;
  /// Number of commits that were found only in the log buffer. A power cut would have lost them, but not a kill.
  std::uint64_t commits_from_buffer = 0;
  /// Number of bytes after the end that are not whole records: a torn tail.
  std::uint64_t torn_bytes = 0;
};

/// The contents of a checkpoint.
struct CheckpointFigures {
  /// The last commit in it, or zero if there is none.
  format::CommitVersion version = 0;
  std::uint64_t files_linked = 0;
  std::uint64_t linked_bytes = 0;
  /// Files that were copied because the file system has no links.
  std::uint64_t files_copied = 0;
  std::uint64_t copied_bytes = 0;
};

struct LevelFigures {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t tombstones = 0;
};

struct CompactionFigures {
  std::uint64_t jobs = 0;
  /// Files that changed their level, or were removed, without being read.
  std::uint64_t moved_files = 0;
  std::uint64_t unlinked_files = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  /// The part of written_bytes that was copied in whole runs, neither decompressed nor merged.
  std::uint64_t copied_bytes = 0;
  /// Number of bytes to rewrite until every level is within its target, plus the bytes of drops that are still to be
  /// released.
  std::uint64_t debt_bytes = 0;
};

struct Statistics {
  /// Total time that commits have waited for flushes and compactions.
  std::chrono::nanoseconds commit_wait{0};
  std::string back_end;
  bool direct_io = false;
  Health health = Health::kHealthy;
  format::CommitVersion visible_version = 0;

  std::uint64_t commits = 0;
  std::uint64_t commits_refused = 0;
  std::uint64_t groups = 0;
  std::uint64_t log_writes = 0;
  /// Bytes of batches, and bytes written to the log for them, filling included.
  std::uint64_t batch_bytes = 0;
  std::uint64_t log_bytes = 0;
  /// Zeros written to prepare log space, in bytes.
  std::uint64_t fill_bytes = 0;
  std::uint64_t log_segments = 0;
  std::uint64_t live_log_bytes = 0;
  std::uint64_t manifest_bytes = 0;

  std::uint64_t memtable_entries = 0;
  std::uint64_t memtable_bytes = 0;
  std::uint64_t memtable_bytes_max = 0;
  /// The levels in order, level 0 first.
  std::vector<LevelFigures> levels;
  /// Closed log segments that are kept for their large values, their bytes, and the bytes that tables point to.
  std::uint64_t value_files = 0;
  std::uint64_t value_file_bytes = 0;
  std::uint64_t value_file_live_bytes = 0;
  /// Parts of the debt: bytes of dropped tables in the log, table files and value files. For value files, it counts all
  /// bytes that no live table points to, if they are worth releasing.
  std::uint64_t dead_log_bytes = 0;
  std::uint64_t dead_table_bytes = 0;
  std::uint64_t dead_value_bytes = 0;
  /// Disk space that the store reserves, so that drops and the close succeed on a full disk. They may have used it.
  std::uint64_t ballast_bytes = 0;
  BlockCacheFigures cache;
  /// Blocks read from files for any purpose, and their stored bytes.
  std::uint64_t block_reads = 0;
  std::uint64_t block_read_bytes = 0;
  std::uint64_t flushes = 0;
  std::uint64_t flushed_bytes = 0;
  CompactionFigures compaction;
  /// Adopted loads, and their entries; bytes written to files by all loads.
  std::uint64_t loads = 0;
  std::uint64_t loaded_entries = 0;
  std::uint64_t load_written_bytes = 0;
  std::uint64_t retired_ids = 0;
  std::uint64_t open_snapshots = 0;
  std::uint64_t partition_waits = 0;
  /// True if the wall clock jumped ahead by more than an hour. It is then not followed until the store is reopened.
  bool clock_jump_ignored = false;
  /// How far the clock of commits is ahead of the machine's clock. If the machine's clock was ahead once, commits
  /// remain ahead.
  std::chrono::seconds clock_ahead{0};

  RecoveryFigures recovery;
};

}  // namespace varve::engine
