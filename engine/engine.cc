// Owns: handing each call to the part that performs it (engine.h).
// Must never: do the work of a part itself.
#include "engine/engine.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <new>
#include <utility>

#include "engine/base/side_by_side.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/compaction/dead_bytes.h"
#include "engine/engine_state.h"
#include "engine/levels/debt.h"
#include "engine/levels/levels.h"
#include "engine/load/beneath_load.h"
#include "engine/load/load.h"
#include "engine/open.h"
#include "engine/read/external_values.h"
#include "engine/recovery/value_file_check.h"
#include "engine/tables/table_check.h"
#include "io/parents_object.h"
#include "io/probe.h"

namespace varve::engine {

Engine::Engine() noexcept = default;

Result<std::unique_ptr<Engine>> Engine::open(const io::Env& env, std::string_view path, const EngineOptions& options) {
  try {
    // The engine is created before its state: an open state has threads, and only close() ends them.
    std::unique_ptr<Engine> engine(new Engine());
    Result<std::unique_ptr<EngineState>> state = open_state(env, path, options);
    if (!state.ok()) return state.status();
    engine->state_ = *std::move(state);
    return engine;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Engine::~Engine() {
  if (state_) (void)close();  // A caller that needs the result calls close(). Acknowledged writes are safe either way.
  if (state_ && !is_usable()) io::leave_to_parent(state_);
}

bool Engine::is_usable() const noexcept {
  return state_->owner.is_this_process();
}

namespace {

/// A clean close leaves less log than this, in bytes. The next open replays it in less time than a table takes to write.
constexpr std::uint64_t kReplayBytesMax = std::uint64_t{1} << 20;

/// Returns the bytes of log that this engine has read and written.
std::uint64_t log_bytes_of(const EngineState& state) noexcept {
  return state.recovery.log_bytes + state.wal->figures().bytes.load(std::memory_order_relaxed);
}

/// Writes the memtable to a table before the close, so that the next open has nothing to replay. Without this, a
/// program that drops a table and ends would also have no later moment that frees its space. If the log is short, and
/// drops free less than a segment of it, the close does not wait for that. The next open does what fails here.
void empty_log(EngineState& state) {
  try {
    if (log_bytes_of(state) < kReplayBytesMax && !state.compactor->has_space_to_give_back()) return;
    if (!state.queue->give_log_back().ok()) return;
    if (Status flushed = state.memtables->wait_until_flushed(); !flushed.ok()) {
      io::probe("the log was not emptied at a close");
    }
  } catch (const std::bad_alloc&) {
    io::probe("the log was not emptied at a close");
  }
}

}  // namespace

Status Engine::close() {
  if (!is_usable()) {
    state_->lock.reset();
    return Status();
  }
  if (state_->closed.exchange(true)) return Status();
  state_->walk_ahead->stop();
  Status result;
  if (state_->queue) {
    // The log contains what the background threads leave unfinished. The next open repeats it.
    state_->pacer->stop();
    state_->warming->stop();
    state_->compactor->stop();
    empty_log(*state_);
    state_->flusher->stop();
    state_->compactor->unlink_dead();
    state_->pool_threads.reset();
    result = state_->queue->close();
    const Status stopped = state_->supply->stop();
    state_->timer.reset();
    if (result.ok()) result = stopped;
    if (result.ok()) result = state_->manifest->finish(state_->queue->clock_floor());
    state_->warmer->finish();  // Last: a directory whose sync fails once is not trusted any more.
  }
  state_->lock.reset();
  return result;
}

void Engine::pace(std::uint64_t commit_bytes) noexcept {
  if (!state_->queue) return;
  state_->pacer->pace(commit_bytes);
  state_->memtables->wait_for_room();
}

bool Engine::is_pacing() const noexcept {
  return state_->queue && (state_->pacer->is_pacing() || state_->memtables->is_crowded());
}

Result<PartitionGuard> Engine::lock_partitions(std::span<const std::uint64_t> hashes,
                                               std::optional<std::chrono::milliseconds> wait_max,
                                               std::optional<std::uint64_t> row) {
  return state_->locks.lock(hashes, wait_max, row);
}

Result<CommitVersion> Engine::commit(CommitRequest request) {
  Result<CommitVersion> committed = commit_request(request);
  if (request.load != nullptr) request.load->end(committed.status());
  if (request.spent_batch != nullptr) *request.spent_batch = std::move(request.batch);
  return committed;
}

namespace {

/// Checks that a load can begin. Errors: kClosed, kReadOnly.
Status check_loadable(const EngineState& state) {
  if (state.closed.load(std::memory_order_relaxed)) return Status(Code::kClosed, "the store was closed; open it again");
  if (!state.queue) return Status(Code::kReadOnly, "the store was opened read-only; open it for writing");
  return Status();
}

LoadParts load_parts(EngineState& state) noexcept {
  return {state.closed, *state.tree, *state.queue, *state.compactor, *state.table_files, state.load_counters};
}

}  // namespace

Result<std::unique_ptr<Load>> Engine::begin_load(const LoadOptions& options) {
  if (Status possible = check_loadable(*state_); !possible.ok()) return possible;
  return std::make_unique<Load>(load_parts(*state_), options);
}

Result<std::unique_ptr<BeneathLoad>> Engine::begin_load_beneath(TableId table, const LoadOptions& options) {
  if (Status possible = check_loadable(*state_); !possible.ok()) return possible;
  return std::make_unique<BeneathLoad>(load_parts(*state_), *state_->memtables, options, table, snapshot());
}

Status check_committable(const EngineState& state) {
  if (state.closed.load(std::memory_order_relaxed)) return Status(Code::kClosed, "the store was closed; open it again");
  if (!state.queue) return Status(Code::kReadOnly, "the store was opened read-only; open it for writing");
  return state.lock->check();
}

Status check_durability(const EngineState& state, Durability durability) {
  // A buffered commit reads nothing: the lease suffices, as for its end.
  return durability == Durability::kSync || !state.lease ? Status() : state.lease->check();
}

Result<CommitVersion> acknowledged(const EngineState& state, Durability durability, Result<CommitVersion> committed) {
  if (!committed.ok() || durability == Durability::kSync || !state.lease) [[likely]]
    return committed;
  const Status fresh = state.lease->check();
  if (fresh.ok()) return committed;
  return fresh.with_code(Code::kUnknown).in_file("the ownership became doubtful during a buffered commit");
}

Status check_ends(const EngineState& state, const Member& member) {
  if (member.demand.expiring_count == 0 || state.has_ends.load(std::memory_order_acquire)) [[likely]]
    return Status();
  return Status::unsupported("a commit gives an entity an end, but the store does not allow ends");
}

Status wait_for_room(EngineState& state, const RoomNeed& need, RoomGrant& grant) noexcept {
  const RoomAnswer answer = state.write_share->wait_for(need, grant);
  if (answer.pause == RoomAnswer::Pause::kNone) return answer.status;
  const bool is_own = answer.pause == RoomAnswer::Pause::kOwn;
  Status told = state.queue->pause(is_own ? Pause::kFlush : Pause::kOthers, answer.status);
  state.write_share->tell_when_room_comes(need);
  return told;
}

Result<CommitVersion> Engine::commit_request(CommitRequest& request) {
  if (Status possible = check_committable(*state_); !possible.ok()) return possible;
  if (Status possible = check_durability(*state_, request.durability); !possible.ok()) return possible;
  RoomGrant room;
  for (;;) {
    Member member;
    if (Status described = describe(request, member); !described.ok()) return described;
    if (Status allowed = check_ends(*state_, member); !allowed.ok()) return allowed;
    Result<CommitVersion> committed = state_->queue->commit(member);
    if (committed.ok()) learn_from_deletes(*state_, request.batch, member.demand.delete_count, *committed);
    if (member.room_need.in_active == 0) return acknowledged(*state_, member.durability, std::move(committed));
    // Rare, since commits are held back earlier: the commit is large, or other stores hold the write buffer.
    request.room = &room;
    if (Status found = wait_for_room(*state_, member.room_need, room); !found.ok()) return found;
  }
}

Status Engine::await_published(CommitVersion version) {
  const Status published = is_published(version) ? Status() : state_->queue->await_published(version);
  return published.ok() ? state_->may_answer() : published;
}

CommitVersion Engine::draw_tick() noexcept {
  return state_->queue->draw_tick();
}

CommitVersion Engine::time() const noexcept {
  return state_->queue ? state_->queue->time() : std::max<CommitVersion>(state_->env.clock.wall(), view().version());
}

bool Engine::is_published(CommitVersion version) const noexcept {
  return !state_->queue || version <= state_->queue->visible();
}

Status Engine::may_answer() const noexcept {
  return state_->may_answer();
}

bool Engine::answers_wait() const noexcept {
  return state_->answers_wait();
}

Status Engine::sync() {
  if (state_->closed.load(std::memory_order_relaxed))
    return Status(Code::kClosed, "the store was closed; open it again");
  if (!state_->queue) return Status();  // Nothing is acknowledged through a read-only handle.
  if (Status held = state_->lock->check(); !held.ok()) return held;
  return state_->queue->flush(false);
}

Status Engine::flush() {
  if (Status possible = check_committable(*state_); !possible.ok()) return possible;
  if (Status sealed = state_->queue->seal_memtable(); !sealed.ok()) return sealed;
  return state_->memtables->wait_until_flushed();
}

Status Engine::compact() {
  if (Status possible = check_committable(*state_); !possible.ok()) return possible;
  if (!state_->queue->unsealed_drops().empty()) {
    if (Status sealed = state_->queue->give_log_back(); !sealed.ok()) return sealed;
  }
  if (Status flushed = flush(); !flushed.ok()) return flushed;
  return state_->compactor->wait_until_done();
}

Result<CheckpointStatistics> Engine::checkpoint(std::string_view path) {
  if (state_->closed.load(std::memory_order_relaxed))
    return Status(Code::kClosed, "the store was closed; open it again");
  if (!state_->queue) {
    return Status(Code::kReadOnly,
                  "a checkpoint needs a store that is open for writing; this one was opened read-only");
  }
  if (Status held = state_->lock->check(); !held.ok()) return held;
  return make_checkpoint(
      {state_->env, *state_->directory, *state_->queue, *state_->supply, *state_->manifest, *state_->tree}, path);
}

ReadView Engine::view() const noexcept {
  return view_of(*state_);
}

ReadView Engine::view_of(const EngineState& state) noexcept {
  for (;;) {
    ReadStates::Pin pin = state.states->pin();
    const CommitVersion version = state.visible();
    // If the state is still installed, it has the memtable with the version's commit. Otherwise the view could lack a
    // commit that its version promises.
    if (!state.states->is_current(pin)) continue;
    // Taken after the version: as in snapshot(), a view that sees a commit with an end has a time.
    const CommitVersion time = state.has_ends.load(std::memory_order_acquire) ? state.clock().time() : 0;
    return ReadView(state, std::move(pin), version, time);
  }
}

ReadView Engine::view_at(const HeldVersion& snapshot) const noexcept {
  return ReadView(*state_, state_->states->pin(), snapshot.version(), snapshot.time());
}

HeldVersion Engine::snapshot() {
  // A commit with an end becomes visible after has_ends was set, so a snapshot that sees it has a time.
  return state_->snapshots.take_visible([this] { return state_->visible(); },
                                        [this] { return has_ends() ? state_->clock().time() : CommitVersion{0}; });
}

bool Engine::has_ends() const noexcept {
  return state_->has_ends.load(std::memory_order_acquire);
}

bool Engine::has_indexes() const noexcept {
  return state_->has_indexes.load(std::memory_order_acquire);
}

namespace {

/// Makes the feature part of the store, unless `is_there`, which it then sets.
Status allow_feature(EngineState& state, std::uint64_t feature, std::atomic<bool>& is_there) {
  if (is_there.load(std::memory_order_acquire)) return Status();
  if (Status possible = check_committable(state); !possible.ok()) return possible;
  if (Status added = state.manifest->add_features(feature); !added.ok()) {
    if (state.manifest->is_stopped()) state.queue->poison(added);
    return added;
  }
  is_there.store(true, std::memory_order_release);
  return Status();
}

}  // namespace

Status Engine::allow_ends() {
  return allow_feature(*state_, format::kExpiryFeature, state_->has_ends);
}

Status Engine::allow_indexes() {
  return allow_feature(*state_, format::kIndexFeature, state_->has_indexes);
}

std::optional<format::CommitTag> Engine::last_tag() const {
  return state_->queue ? state_->queue->last_tag() : state_->recovered_tag;
}

bool Engine::was_dropped(TableId table) const noexcept {
  return state_->dropped_at_open.dropped_at(table).has_value();
}

void Engine::check_tables(const std::function<void(std::uint64_t bytes, const Status& found)>& on_file) const {
  const ReadStates::Pin pin = state_->states->pin();
  const Levels& tables = *pin->tables;
  const auto check = [&tables](std::string_view pointer) { return check_value(tables, pointer); };
  std::vector<std::pair<std::uint64_t, std::function<Status()>>> files;  // with their bytes
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : tables.level(level)) {
      files.emplace_back(file->entry.size_bytes, [&] { return check_table(*file->table, check); });
    }
  }
  for (const auto& [number, values] : tables.value_files()) {
    files.emplace_back(values->entry().size_bytes, [&state = *state_, &entry = values->entry()] {
      return check_value_file(state.env, *state.directory, entry);
    });
  }
  do_side_by_side(
      state_->env.scheduler, files.size(), [&files](std::size_t at) { return files[at].second(); },
      [&](std::size_t at, const Status& found) { on_file(files[at].first, found); });
}

Status Engine::check_warm_list() const {
  const ReadStates::Pin pin = state_->states->pin();
  return engine::check_warm_list(*state_->directory, *pin->tables);
}

const io::Env& Engine::env() const noexcept {
  return state_->env;
}

bool Engine::read_only() const noexcept {
  return state_->options.read_only;
}

const std::string& Engine::model_options() const noexcept {
  return state_->stored_options.model_options;
}

Durability Engine::default_durability() const noexcept {
  return state_->stored_options.default_durability == static_cast<std::uint64_t>(Durability::kBuffered)
             ? Durability::kBuffered
             : Durability::kSync;
}

namespace {

void add_memtable(const Memtable& memtable, Statistics& figures) {
  figures.memtable_entries += memtable.entry_count();
  figures.memtable_bytes += memtable.used_bytes();
}

void add_memory(const ReadState& seen, Statistics& figures) {
  add_memtable(*seen.active, figures);
  for (const auto& memtable : seen.sealed) add_memtable(*memtable, figures);
}

void add_value_files(const Levels& levels, Statistics& figures) {
  figures.value_files = levels.value_files().size();
  for (const auto& [number, values] : levels.value_files()) figures.value_file_bytes += values->entry().size_bytes;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const auto& file : levels.level(level)) {
      for (const format::ValueFileUse& use : file->entry.value_files) figures.value_file_live_bytes += use.bytes;
    }
  }
}

void add_tables(const EngineState& state, Statistics& figures) {
  const ReadStates::Pin pin = state.states->pin();
  const Levels& levels = *pin->tables;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    LevelStatistics& figure = figures.levels.emplace_back();
    for (const auto& file : levels.level(level)) {
      ++figure.files;
      figure.bytes += file->entry.size_bytes;
      figure.entries += file->entry.entry_count;
      figure.deletions += file->entry.tombstone_count;
    }
  }
  add_value_files(levels, figures);
  const BlockCacheFigures cached = state.cache->figures();
  figures.cache = {cached.used_bytes, cached.bytes_max, cached.block_count, cached.hits, cached.misses};
  figures.block_reads = state.blocks->reads();
  figures.block_read_bytes = state.blocks->read_bytes();
  if (!state.flusher) return;
  figures.flushes = state.flusher->flushes();
  figures.flushed_bytes = state.flusher->written_bytes();
  state.compactor->add_figures_to(figures);
  state.warmer->add_figures_to(figures);
  figures.write_wait = state.pacer->waited();
}

/// Returns how far the newest version is ahead of the clock. Ceilings count too, since no commit gets a version below
/// them.
std::chrono::seconds clock_ahead(const EngineState& state) {
  const CommitVersion last = std::max(state.visible(), state.recovered_ceiling);
  const io::Ticks now = state.env.clock.wall();
  const io::Ticks ahead = last > now ? last - now : 0;
  return std::chrono::seconds(ahead / io::kTicksPerSecond);
}

/// Adds the space that drops have left, whether the manifest contains the drops or only the log.
void add_debt(const EngineState& state, Statistics& figures) {
  const ReadStates::Pin pin = state.states->pin();
  const Levels& levels = *pin->tables;
  std::vector<format::DeadId> dead_ids;
  figures.dead_log_bytes = state.recovered_dead_bytes;
  if (state.queue) {
    dead_ids = state.queue->unflushed_drops();
    figures.dead_log_bytes = state.queue->recovered_dead_bytes() + dead_bytes_in_memory(*pin, dead_ids);
    const std::vector<format::DeadId> known = state.manifest->files().dead_ids;
    dead_ids.insert(dead_ids.end(), known.begin(), known.end());
  } else {
    dead_ids = state.dropped_at_open.list();
  }
  const DeadRanges dead(dead_ids, format::kCommitVersionMax);
  figures.dead_table_bytes = dead_table_file_bytes(levels, dead);
  figures.dead_value_bytes = dead_value_file_bytes(levels, dead);
  figures.compaction_debt_bytes = compaction_debt_bytes(levels, tree_shape()) + figures.dead_log_bytes +
                                  figures.dead_table_bytes + figures.dead_value_bytes;
}

}  // namespace

Statistics Engine::statistics() const {
  const EngineState& state = *state_;
  Statistics figures;
  figures.back_end = state.env.files.name();
  figures.read_only = state.options.read_only;
  figures.default_durability = default_durability();
  figures.visible_version = DateTime{state.visible()};
  add_memory(*state.states->pin(), figures);
  figures.memtable_bytes_max = state.write_buffer_bytes_max;
  add_tables(state, figures);
  add_debt(state, figures);
  figures.clock_ahead = clock_ahead(state);
  figures.ballast_bytes = kBallastBytes;
  figures.open_snapshots = state.snapshots.count();
  figures.partition_waits = state.locks.waits();
  figures.recovery = state.recovery;
  if (!state.queue) {
    figures.retired_ids = state.dropped_at_open.size();
    figures.live_log_bytes = state.recovered_log_bytes;
    return figures;
  }
  figures.direct_io = state.wal->direct();
  figures.health = state.queue->health();
  figures.commits = state.queue->figures().commits.load(std::memory_order_relaxed);
  figures.commits_refused = state.queue->figures().refused.load(std::memory_order_relaxed);
  figures.groups = state.queue->figures().groups.load(std::memory_order_relaxed);
  figures.batch_bytes = state.queue->figures().batch_bytes.load(std::memory_order_relaxed);
  figures.log_writes = state.wal->figures().writes.load(std::memory_order_relaxed);
  figures.log_writes_in_flight_max = state.queue->writes_in_flight_max();
  figures.log_bytes = state.wal->figures().bytes.load(std::memory_order_relaxed);
  figures.fill_bytes = state.supply->filled_bytes();
  figures.clock_jump_ignored = state.queue->clock_jump_ignored();
  figures.retired_ids = state.queue->retired_count();
  figures.manifest_bytes = state.manifest->size_bytes();
  figures.loads = state.load_counters.loads.load(std::memory_order_relaxed);
  figures.loaded_entities = state.load_counters.entries.load(std::memory_order_relaxed);
  figures.load_written_bytes = state.load_counters.written_bytes.load(std::memory_order_relaxed);
  const FileSet files = state.manifest->files();
  figures.log_segments = files.segments.size();
  figures.buffered_dies_with_process = !files.log_buffer.has_value();
  for (const auto& [number, segment] : files.segments) figures.live_log_bytes += segment.size_bytes;
  return figures;
}

}  // namespace varve::engine
