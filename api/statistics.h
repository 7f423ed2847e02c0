// Owns: the figures a store tells about itself.
// Must never: be needed for correctness by anybody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/options.h"
#include "api/types.h"

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
  /// Dropped tables and accounts of which bytes remain.
  std::uint64_t retired_ids = 0;
  std::uint64_t open_snapshots = 0;
  /// How often a write had to wait for another one of its partition.
  std::uint64_t partition_waits = 0;
  /// The wall clock jumped ahead by more than an hour and is not followed until the store is reopened.
  bool clock_jump_ignored = false;

  RecoveryStatistics recovery;
};

}  // namespace varve
