// Owns: the figures an engine counts about itself.
// Must never: steer anything: correctness never rests on a figure.
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
  /// Commits that were found in the log buffer alone: they would have been lost with a power cut, not with a kill.
  std::uint64_t commits_from_buffer = 0;
  /// Bytes behind the end that were not whole records: a torn tail.
  std::uint64_t torn_bytes = 0;
};

/// What a checkpoint consists of.
struct CheckpointFigures {
  /// The last commit in it; zero where there is none.
  format::CommitVersion version = 0;
  std::uint64_t files_linked = 0;
  std::uint64_t linked_bytes = 0;
  /// Where the file system gives no links.
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
  /// Files that changed their level, or left, without being read.
  std::uint64_t moved_files = 0;
  std::uint64_t unlinked_files = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  /// Of those, what was copied by whole runs, neither decompressed nor merged.
  std::uint64_t copied_bytes = 0;
  /// What must be rewritten until every level is within its target, and what drops have left to give back.
  std::uint64_t debt_bytes = 0;
};

struct Statistics {
  /// What commits have waited because flushes and compactions were behind, all together.
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
  /// Zeros written to prepare log space.
  std::uint64_t fill_bytes = 0;
  std::uint64_t log_segments = 0;
  std::uint64_t live_log_bytes = 0;
  std::uint64_t manifest_bytes = 0;

  std::uint64_t memtable_entries = 0;
  std::uint64_t memtable_bytes = 0;
  std::uint64_t memtable_bytes_max = 0;
  /// By level, 0 first.
  std::vector<LevelFigures> levels;
  /// Closed log segments that stay for the large values in them, their bytes, and how many of these tables point to.
  std::uint64_t value_files = 0;
  std::uint64_t value_file_bytes = 0;
  std::uint64_t value_file_live_bytes = 0;
  /// Of the debt: what the log, table files and value files hold of dropped tables. Of value files it is all that no
  /// live table points to, where that is worth giving back.
  std::uint64_t dead_log_bytes = 0;
  std::uint64_t dead_table_bytes = 0;
  std::uint64_t dead_value_bytes = 0;
  /// Disk space that a store sets aside, so that drops and the close succeed on a full disk, which may have taken it.
  std::uint64_t ballast_bytes = 0;
  BlockCacheFigures cache;
  /// Blocks read from files, whatever for, and their bytes as stored.
  std::uint64_t block_reads = 0;
  std::uint64_t block_read_bytes = 0;
  std::uint64_t flushes = 0;
  std::uint64_t flushed_bytes = 0;
  CompactionFigures compaction;
  /// Loads that were adopted, and their entries; bytes written to files by all loads.
  std::uint64_t loads = 0;
  std::uint64_t loaded_entries = 0;
  std::uint64_t load_written_bytes = 0;
  std::uint64_t retired_ids = 0;
  std::uint64_t open_snapshots = 0;
  std::uint64_t partition_waits = 0;
  /// The wall clock jumped ahead by more than an hour and is not followed until the store is reopened.
  bool clock_jump_ignored = false;
  /// How far the clock of commits is ahead of the machine's. Once a machine's clock was ahead, commits stay there.
  std::chrono::seconds clock_ahead{0};

  RecoveryFigures recovery;
};

}  // namespace varve::engine
