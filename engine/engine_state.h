// Owns: the parts of one open store, in the order of their creation. They are destroyed in the reverse order.
// Must never: be seen outside engine/.
//
// ARCHITECTURE.md, section Locks, has the lock order.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "engine/base/background_pool.h"
#include "engine/base/read_queues.h"
#include "engine/base/snapshots.h"
#include "engine/cache/block_cache.h"
#include "engine/commit/commit_queue.h"
#include "engine/commit/log_timer.h"
#include "engine/commit/partition_locks.h"
#include "engine/compaction/compactor.h"
#include "engine/compaction/flush.h"
#include "engine/compaction/pacer.h"
#include "engine/compaction/tree.h"
#include "engine/load/load.h"
#include "engine/log/segment_supply.h"
#include "engine/log/wal.h"
#include "engine/manifest/manifest.h"
#include "engine/memory/memtables.h"
#include "engine/memory/read_states.h"
#include "engine/memory/write_room.h"
#include "engine/recovery/establish.h"
#include "engine/settings/options.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/table_file.h"
#include "engine/tables/walk_ahead.h"
#include "engine/warm/warmer.h"
#include "io/posix/posix_process.h"
#include "varve/statistics.h"

namespace varve::engine {

class EngineState {
 public:
  EngineState(const io::Env& environment, const EngineOptions& chosen)
      : env(environment),
        options(chosen),
        locks(environment.scheduler, environment.clock),
        snapshots(environment.scheduler) {}

  const io::OwnerProcess owner = io::OwnerProcess::current();
  std::atomic<bool> closed{false};
  const io::Env env;
  const EngineOptions options;
  std::unique_ptr<io::Directory> directory;
  std::unique_ptr<io::DirectoryLock> lock;
  std::shared_ptr<const io::Lease> lease;  // null for a store that cannot be taken over; see may_answer()

  format::StoredOptions stored_options;
  RecoveryStatistics recovery;
  RetiredIds dropped_at_open;
  std::uint64_t recovered_dead_bytes = 0;  // of dropped tables, in the recovered log
  CommitVersion recovered_ceiling = 0;
  std::uint64_t write_buffer_bytes_max = 0;
  PartitionLocks locks;
  Snapshots snapshots;

  std::shared_ptr<BlockCache> cache;
  std::unique_ptr<BlockReader> blocks;
  std::unique_ptr<ReadQueues> read_queues;
  std::unique_ptr<TableFiles> table_files;
  std::unique_ptr<ReadStates> states;
  std::unique_ptr<WalkAhead> walk_ahead;

  // Parts of a store open for writing:
  std::shared_ptr<BackgroundPool> pool;
  std::shared_ptr<PoolThreads> pool_threads;  // null after the close
  std::unique_ptr<Manifest> manifest;
  std::unique_ptr<WriteShare> write_share;
  std::unique_ptr<Pacer> pacer;
  std::unique_ptr<Tree> tree;
  std::unique_ptr<Memtables> memtables;
  std::unique_ptr<SegmentSupply> supply;
  std::unique_ptr<Wal> wal;
  std::unique_ptr<CommitQueue> queue;
  std::unique_ptr<LogTimer> timer;
  std::unique_ptr<Warmer> warmer;
  std::unique_ptr<WarmingWork> warming;
  std::unique_ptr<Compactor> compactor;
  std::unique_ptr<Flusher> flusher;
  LoadCounters load_counters;

  // Fields of a read-only store, in which no queue changes the version:
  CommitVersion recovered_version = 0;
  std::optional<format::CommitTag> recovered_tag;
  std::uint64_t recovered_log_bytes = 0;

  /// The clock of a read-only store, for the ends of entities.
  std::unique_ptr<VersionClock> reading_clock;

  /// Whether entities may have an end. Once true, it stays true.
  std::atomic<bool> has_ends{false};
  /// Whether tables may have indexes. Once true, it stays true.
  std::atomic<bool> has_indexes{false};

  /// Returns Ok if an answer from what this process has in memory is not out of date. Called after the view was made or
  /// the commit published, and before the answer. May wait if answers_wait(). Errors: those of io::Lease::confirm().
  Status may_answer() const noexcept {
    if (!lease) [[likely]]
      return Status();
    return lease->confirm();
  }
  /// Returns whether may_answer() may wait for the file system.
  bool answers_wait() const noexcept { return lease && lease->may_wait(); }

  CommitVersion visible() const noexcept { return queue ? queue->visible() : recovered_version; }
  VersionClock& clock() const noexcept { return queue ? queue->clock() : *reading_clock; }
};

/// Checks that the store can take commits. Errors: kClosed, kReadOnly, kLocked, kFenced.
Status check_committable(const EngineState& state);

/// Checks, before a commit begins, that a commit of this durability could be acknowledged. Errors: kBusy, kFenced.
Status check_durability(const EngineState& state, Durability durability);

/// Returns the result of a commit that has ended. A buffered commit is acknowledged only under a fresh lease: otherwise,
/// it is kUnknown.
Result<CommitVersion> acknowledged(const EngineState& state, Durability durability, Result<CommitVersion> committed);

/// Checks that a commit with ends may be made. Errors: kUnsupported.
Status check_ends(const EngineState& state, const Member& member);

/// Waits, after a commit was refused with a Member::room_need, until `grant` has the room. The repeated request takes
/// the room. The holder of the lead must not call it. Errors: those of WriteShare::wait_for. If the cause may pass,
/// writes are paused.
Status wait_for_room(EngineState& state, const RoomNeed& need, RoomGrant& grant) noexcept;

}  // namespace varve::engine
