// Owns: the steps of an open (open.h).
// Must never: continue after a failed step.
#include "engine/open.h"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/base/given_path.h"
#include "engine/base/sync_points.h"
#include "engine/memory/live_copy.h"
#include "engine/recovery/recovery.h"
#include "engine/tables/room_directory.h"
#include "io/os_error.h"

namespace varve::engine {

namespace {

/// Longest wait for the lock. The kernel may keep a killed process's lock until that process's last write has ended.
constexpr std::chrono::milliseconds kLockWaitMax{500};

Result<std::unique_ptr<io::Directory>> find_directory(const io::Env& env, std::string_view path,
                                                      const EngineOptions& options) {
  Result<std::unique_ptr<io::Directory>> directory = env.files.open_directory(path);
  const bool may_make = options.create_if_absent && !options.read_only;
  if (io::is_missing(directory.status()) && may_make) {
    if (Status made = env.files.create_directory(path, sync_points::kStoreDirectory); !made.ok()) {
      return answer_for_path(made);
    }
    directory = env.files.open_directory(path);
  }
  if (!directory.ok()) return answer_for_path(directory.status());
  return directory;
}

Status no_store(std::string_view path) {
  return Status::not_found("there is no store here; set create_if_absent to create one").in_file(path);
}

Status check_stored_options(const EngineOptions& asked, const format::StoredOptions& stored, std::string_view path) {
  const auto refused = [path](std::string_view what) {
    return Status::invalid_argument("the store was created with " + std::string(what) +
                                    ", which cannot be changed; leave the option unset")
        .in_file(path);
  };
  if (asked.default_durability && static_cast<std::uint64_t>(*asked.default_durability) != stored.default_durability) {
    return refused("another default durability");
  }
  if (asked.model_options && *asked.model_options != stored.model_options) return refused("other limits");
  return Status();
}

/// A sealed memtable is this part of the write buffer, so that new memtables can fill while one is flushed.
constexpr std::uint64_t kMemtablesInBuffer = 4;
constexpr std::uint64_t kMemtableBytesMax = std::uint64_t{64} << 20;

/// Bounds of the blocks read ahead of scans. They are pinned beyond the cache's budget, so they must be small beside
/// it.
constexpr std::uint64_t kWalkAheadPart = 8;
constexpr std::uint64_t kWalkAheadReadsMax = 16;

/// Starts the parts that read, from the recovered state.
Status start_reading(EngineState& state, const FileSet& files, std::unique_ptr<Memtable> memtable) {
  io::Scheduler& scheduler = state.env.scheduler;
  state.cache = state.options.block_cache;
  if (!state.cache) state.cache = std::make_shared<BlockCache>(scheduler, kBlockCacheBytes);
  state.blocks = std::make_unique<BlockReader>(scheduler, *state.cache);
  state.read_queues = std::make_unique<ReadQueues>(state.env);
  EngineState* const raw = &state;
  state.table_files =
      std::make_unique<TableFiles>(state.env, *state.directory, state.cache, state.options.open_files, [raw] {
        if (!raw->closed.load(std::memory_order_relaxed) && raw->compactor) raw->compactor->wake();
      });
  Result<std::shared_ptr<const Levels>> levels = Tree::arrange(files, *state.table_files);
  if (!levels.ok()) return levels.status();
  state.states = std::make_unique<ReadStates>(
      scheduler, ReadState{std::shared_ptr<Memtable>(std::move(memtable)), {}, *std::move(levels)});
  const std::uint64_t ahead_bytes_max = kWalkAheadReadsMax * state.env.files.good_read_bytes();
  state.walk_ahead = std::make_unique<WalkAhead>(*state.blocks, *state.read_queues,
                                                 std::min(state.cache->bytes_max() / kWalkAheadPart, ahead_bytes_max));
  state.blocks->set_ahead(state.walk_ahead.get());
  return Status();
}

/// Starts the parts that commit, from the established state.
Status start_writing(EngineState& state, Established established, CommitStart begin) {
  state.manifest = std::move(established.manifest);
  std::shared_ptr<WriteBudget> budget = state.options.write_budget;
  if (!budget) budget = std::make_shared<WriteBudget>(state.env.scheduler, kWriteBufferBytes);
  state.write_buffer_bytes_max = budget->bytes_max();
  state.write_share = std::make_unique<WriteShare>(std::move(budget), state.env, state.directory->path());
  state.pacer = std::make_unique<Pacer>(state.env.scheduler, *state.write_share);
  state.pacer->look_at(*state.states->pin()->tables);
  EngineState* const raw = &state;
  const auto stop_store = [raw](const Status& cause) { raw->queue->poison(cause); };
  state.supply = std::make_unique<SegmentSupply>(state.env, *state.directory, *state.manifest, stop_store,
                                                 [raw] { raw->queue->resume(Pause::kLog); });
  state.wal = std::make_unique<Wal>(state.env, std::move(established.segment), std::move(established.buffer),
                                    *state.manifest, *state.supply, begin.version_ceiling);
  const std::uint64_t memtable_bytes = std::min(kMemtableBytesMax, state.write_buffer_bytes_max / kMemtablesInBuffer);
  state.memtables = std::make_unique<Memtables>(state.env.scheduler, *state.states, *state.write_share, memtable_bytes);
  state.queue =
      std::make_unique<CommitQueue>(state.env, *state.wal, *state.memtables, std::move(begin), state.options.events);
  state.timer = std::make_unique<LogTimer>(state.env, *state.queue);
  state.tree = std::make_unique<Tree>(state.env, *state.directory, *state.manifest, *state.states, *state.table_files,
                                      stop_store, [raw]() noexcept {
                                        raw->pacer->look_at(*raw->tree->levels());
                                        raw->queue->forget_drops(*raw->manifest);
                                        raw->compactor->wake();
                                      });
  Result<std::shared_ptr<PoolThreads>> threads =
      state.options.pool ? state.options.pool->threads_for(state.env) : PoolThreads::start(state.env);
  if (!threads.ok()) return threads.status();
  state.pool_threads = *std::move(threads);
  state.pool = state.pool_threads->pool();
  state.compactor = std::make_unique<Compactor>(state.env, *state.pool, *state.queue, state.snapshots, *state.tree,
                                                *state.blocks, *state.read_queues, state.options.events);
  state.warmer = std::make_unique<Warmer>(state.env, *state.directory, *state.states, *state.blocks, *state.read_queues,
                                          state.options.events);
  state.warming = std::make_unique<WarmingWork>(*state.pool, *state.warmer);
  state.flusher = std::make_unique<Flusher>(*state.pool, *state.queue, *state.memtables, *state.wal, *state.supply,
                                            state.snapshots, *state.tree, state.options.events);
  if (Status started = state.supply->start(); !started.ok()) return started;
  state.compactor->start();
  state.flusher->start();
  state.warming->start();
  return state.timer->start();  // Last, since only the end of the queue ends it.
}

/// Returns how many deletes scans may meet: in the recovered log and in all tables.
std::uint64_t deletes_in(const Memtable& memtable, const FileSet& files) noexcept {
  std::uint64_t deletes = memtable.delete_count();
  for (const auto& [number, table] : files.tables) deletes += table.tombstone_count;
  return deletes;
}

/// Lets the first scan remember the deletes that it passes. Without memory, a search after later deletes does so.
void know_recovered_deletes(CommitQueue& queue) noexcept {
  try {
    queue.know_stretches();
  } catch (const std::bad_alloc&) {
  }
}

Status open_new(EngineState& state) {
  format::StoredOptions stored;
  stored.default_durability = static_cast<std::uint64_t>(state.options.default_durability.value_or(Durability::kSync));
  stored.model_options = state.options.model_options.value_or(std::string());
  Result<Established> made = make_store(state.env, *state.directory, stored);
  if (!made.ok()) return made.status();
  state.stored_options = stored;
  auto memtable = std::make_unique<Memtable>();
  if (Status reading = start_reading(state, FileSet(), std::move(memtable)); !reading.ok()) return reading;
  return start_writing(state, *std::move(made), CommitStart{});
}

Status open_existing(EngineState& state) {
  Result<Recovered> recovered = read_store(state.env, *state.directory, !state.options.read_only);
  if (!recovered.ok()) return recovered.status();
  state.stored_options = recovered->files.stored_options;
  if (Status same = check_stored_options(state.options, state.stored_options, state.directory->path()); !same.ok()) {
    return same;
  }
  state.recovery = recovered->figures;
  state.dropped_at_open = recovered->retired;
  state.recovered_ceiling = recovered->version_ceiling;
  state.has_ends = (recovered->files.features.incompatible & format::kExpiryFeature) != 0;
  state.has_indexes = (recovered->files.features.incompatible & format::kIndexFeature) != 0;
  Result<LiveCopy> live = without_retired(std::move(recovered->memtable), recovered->retired);
  if (!live.ok()) return live.status();
  state.recovered_dead_bytes = live->dead_bytes;
  const std::uint64_t deletes = deletes_in(*live->memtable, recovered->files);
  if (Status reading = start_reading(state, recovered->files, std::move(live->memtable)); !reading.ok()) return reading;
  if (state.options.read_only) {
    state.recovered_version = recovered->last_version;
    state.recovered_tag = std::move(recovered->last_tag);
    state.recovered_log_bytes = recovered->figures.log_bytes;
    state.reading_clock = std::make_unique<VersionClock>(state.env.clock, state.recovered_version);
    return Status();
  }
  Result<Established> established = establish(state.env, *state.directory, *recovered);
  if (!established.ok()) return established.status();
  CommitStart begin{recovered->last_version,        recovered->version_ceiling,    recovered->files.flushed_version,
                    std::move(recovered->last_tag), std::move(recovered->retired), std::move(recovered->adopted),
                    state.recovered_dead_bytes};
  if (Status writing = start_writing(state, *std::move(established), std::move(begin)); !writing.ok()) return writing;
  if (deletes >= DeadStretches::kDeletesBetweenLooks) know_recovered_deletes(*state.queue);
  return Status();
}

}  // namespace

Result<std::unique_ptr<EngineState>> open_state(const io::Env& env, std::string_view path,
                                                const EngineOptions& options) {
  EngineOptions chosen = options;
  if (!chosen.open_files) chosen.open_files = OpenFiles::make_for_process(env.scheduler);
  auto state = std::make_unique<EngineState>(env, chosen);
  Result<std::unique_ptr<io::Directory>> directory = find_directory(env, path, options);
  if (directory.code() == Code::kNotFound) return no_store(path);
  if (!directory.ok()) return directory.status();
  state->directory = std::make_unique<RoomDirectory>(*std::move(directory), chosen.open_files);

  // Searches first without the lock, since taking the lock creates a file. A foreign directory must not be changed.
  Result<StoreFound> found = find_store(*state->directory);
  if (!found.ok()) return found.status();
  const bool may_make = options.create_if_absent && !options.read_only;
  if (*found != StoreFound::kStore && !may_make) return no_store(path);

  const io::LockMode mode = options.read_only ? io::LockMode::kShared : io::LockMode::kExclusive;
  Result<std::unique_ptr<io::DirectoryLock>> lock = state->directory->lock(kLockName, mode, kLockWaitMax);
  if (!lock.ok()) return answer_for_writer(lock.status());
  state->lock = *std::move(lock);
  state->lease = state->lock->lease();

  found = find_store(*state->directory);  // Again under the lock: another process may just have created the store.
  if (!found.ok()) return found.status();
  if (*found != StoreFound::kStore && !may_make) return no_store(path);
  const Status opened = *found == StoreFound::kStore ? open_existing(*state) : open_new(*state);
  if (!opened.ok()) return answer_for_writer(opened);
  return state;
}

}  // namespace varve::engine
