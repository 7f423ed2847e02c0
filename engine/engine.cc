// Owns: handing each verb to the part that does it (engine.h).
// Must never: do the work of a part itself.
#include "engine/engine.h"

#include <cassert>
#include <new>
#include <utility>

#include "engine/engine_state.h"
#include "engine/open.h"
#include "format/batch.h"

namespace varve::engine {

namespace {

/// What no caller may put into a batch: operations that belong to doors of their own.
Status check_operations(std::string_view batch) {
  Result<format::BatchReader> reader = format::BatchReader::open(batch);
  if (!reader.ok()) return reader.status();
  format::Operation operation;
  for (;;) {
    const Result<bool> more = reader->next(&operation);
    if (!more.ok()) return more.status();
    if (!*more) return Status();
    if (operation.kind == format::Kind::kAdopt) return Status::unsupported("adopt belongs to the loader");
  }
}

Status describe(const CommitRequest& request, Member& member) {
  if (request.batch.size() > kBatchBytesMax) {
    return Status::too_large("a commit of " + std::to_string(request.batch.size()) + " bytes is over the limit of " +
                             std::to_string(kBatchBytesMax));
  }
  const Result<MemtableDemand> demand = Memtable::demand_of(request.batch);
  if (!demand.ok()) return demand.status();
  if (demand->other_count > 0) {
    if (Status allowed = check_operations(request.batch); !allowed.ok()) return allowed;
  }
  const Result<format::BatchReader> reader = format::BatchReader::open(request.batch);
  if (!reader.ok()) return reader.status();
  member.batch = request.batch;
  member.tag = reader->tag();
  member.has_tag = reader->has_tag();
  member.tables = request.tables;
  member.durability = request.durability;
  member.frees_space = request.frees_space;
  member.demand = *demand;
  return Status();
}

}  // namespace

Engine::Engine(std::unique_ptr<EngineState> state) noexcept : state_(std::move(state)) {}

Result<std::unique_ptr<Engine>> Engine::open(const io::Env& env, std::string_view path, const EngineOptions& options) {
  try {
    Result<std::unique_ptr<EngineState>> state = open_state(env, path, options);
    if (!state.ok()) return state.status();
    return std::unique_ptr<Engine>(new Engine(*std::move(state)));
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Engine::~Engine() {
  (void)close();  // Whoever wants to know calls close(); what was acknowledged is safe either way.
}

Status Engine::close() {
  if (state_->closed.exchange(true)) return Status();
  Status result;
  if (state_->queue) {
    result = state_->queue->close();
    const Status stopped = state_->supply->stop();
    state_->timer.reset();
    if (result.ok()) result = stopped;
    if (result.ok()) result = state_->manifest->finish(state_->queue->clock_floor());
  }
  state_->lock.reset();
  return result;
}

Result<PartitionGuard> Engine::lock_partitions(std::span<const std::uint64_t> hashes,
                                               std::optional<std::chrono::milliseconds> wait_max) {
  return state_->locks.lock(hashes, wait_max);
}

Result<CommitVersion> Engine::commit(CommitRequest request) {
  if (state_->closed.load(std::memory_order_relaxed)) return Status(Code::kClosed, "the store was closed");
  if (!state_->queue) return Status(Code::kReadOnly, "the store was opened for reading only");
  if (Status held = state_->lock->check(); !held.ok()) return held;
  Member member;
  if (Status described = describe(request, member); !described.ok()) return described;
  member.locks = &request.locks;
  return state_->queue->commit(member);
}

Status Engine::await_published(CommitVersion version) {
  if (!state_->queue || version <= state_->queue->visible()) return Status();
  return state_->queue->await_published(version);
}

Status Engine::sync() {
  if (state_->closed.load(std::memory_order_relaxed)) return Status(Code::kClosed, "the store was closed");
  if (!state_->queue) return Status();  // Nothing is acknowledged through a read-only handle.
  if (Status held = state_->lock->check(); !held.ok()) return held;
  return state_->queue->flush(false);
}

ReadView Engine::view() const noexcept {
  return ReadView(*state_, state_->visible());
}

ReadView Engine::view_at(CommitVersion version) const noexcept {
  return ReadView(*state_, version);
}

Snapshot Engine::snapshot() {
  return state_->snapshots.take(state_->visible());
}

std::optional<format::CommitTag> Engine::last_tag() const {
  return state_->queue ? state_->queue->last_tag() : state_->recovered_tag;
}

const io::Env& Engine::env() const noexcept {
  return state_->env;
}

bool Engine::read_only() const noexcept {
  return state_->options.read_only;
}

Durability Engine::default_durability() const noexcept {
  return state_->stored_options.default_durability == static_cast<std::uint64_t>(Durability::kBuffered)
             ? Durability::kBuffered
             : Durability::kSync;
}

Statistics Engine::statistics() const {
  const EngineState& state = *state_;
  Statistics figures;
  figures.back_end = state.env.files.name();
  figures.visible_version = state.visible();
  figures.memtable_entries = state.memtable->entry_count();
  figures.memtable_bytes = state.memtable->used_bytes();
  figures.memtable_bytes_max = state.write_buffer_bytes_max;
  figures.open_snapshots = state.snapshots.count();
  figures.partition_waits = state.locks.waits();
  figures.recovery = state.recovery;
  if (!state.queue) {
    figures.retired_ids = state.recovered_retired;
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
  figures.log_bytes = state.wal->figures().bytes.load(std::memory_order_relaxed);
  figures.fill_bytes = state.supply->filled_bytes();
  figures.clock_jump_ignored = state.queue->clock_jump_ignored();
  figures.retired_ids = state.queue->retired_count();
  figures.manifest_bytes = state.manifest->size_bytes();
  const FileSet files = state.manifest->files();
  figures.log_segments = files.segments.size();
  for (const auto& [number, segment] : files.segments) figures.live_log_bytes += segment.size_bytes;
  return figures;
}

Result<std::optional<ReadView::Found>> ReadView::get(std::string_view sort_key) const {
  const std::optional<MemtableEntry> entry = state_->memtable->find(sort_key, version_);
  if (!entry || entry->kind != Kind::kPut) return std::optional<Found>();
  return std::optional<Found>(Found{entry->version, entry->value});
}

Result<Newest> ReadView::newest(std::string_view sort_key) const {
  Newest newest;
  const std::optional<MemtableEntry> entry = state_->memtable->find(sort_key, format::kCommitVersionMax);
  if (!entry) return newest;
  newest.version = entry->version;
  if (entry->kind == Kind::kPut) newest.value = entry->value;
  return newest;
}

Cursor ReadView::cursor(std::string_view lower, std::string_view upper) const {
  return Cursor(*state_->memtable, lower, upper, version_);
}

}  // namespace varve::engine
