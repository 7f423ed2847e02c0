// Owns: the operations of the file system itself: directories by path, and the functions for tests.
// Must never: create a directory whose parent does not exist.

#include "io/simulated/memory_file_system.h"

#include <algorithm>
#include <utility>

#include "io/os_error.h"
#include "io/simulated/memory_change.h"
#include "io/simulated/memory_directory.h"
#include "io/simulated/memory_read_queue.h"
#include "io/simulated/memory_state.h"

namespace varve::io {

namespace {

bool is_root(std::string_view path) noexcept {
  return path == "/" || path == ".";
}

Status check_path(std::string_view path) {
  if (!path.empty() && path.find('\0') == std::string_view::npos) return Status();
  return Status::invalid_argument("the path of a directory is empty or contains NUL");
}

bool has_directory(const MemoryDisk::State& state, const std::string& path) {
  const auto found = state.directories.find(path);
  return found != state.directories.end() && !found->second.in_flight;
}

bool has_file(const MemoryDisk::State& state, const std::string& path) {
  const SplitPath split = split_path(path);
  const auto directory = state.directories.find(split.directory);
  return directory != state.directories.end() && directory->second.cached.contains(split.name);
}

Operation directory_step(OperationKind kind, std::string_view path, SyncPoint point = {}) noexcept {
  Operation operation;
  operation.kind = kind;
  operation.directory = path;
  operation.sync_point = point.name;
  return operation;
}

}  // namespace

bool inside_memory_file_system() noexcept {
  return DeviceScope::is_active();
}

MemoryFileSystem::MemoryFileSystem() : MemoryFileSystem(MemoryDisk()) {}

MemoryFileSystem::MemoryFileSystem(MemoryDisk disk) : state_(std::make_shared<MemoryState>(nullptr, std::move(disk))) {}

MemoryFileSystem::MemoryFileSystem(Scheduler& scheduler, MemoryDisk disk)
    : state_(std::make_shared<MemoryState>(&scheduler, std::move(disk))) {}

MemoryFileSystem::~MemoryFileSystem() = default;

Result<std::unique_ptr<Directory>> MemoryFileSystem::open_directory(std::string_view path) {
  const DeviceScope device;
  if (Status valid = check_path(path); !valid.ok()) return valid;
  std::string normal = normal_path(path);
  const Step step(*state_, directory_step(OperationKind::kOpenDirectory, normal));
  if (step.fault().has_value()) return step.fault()->status;
  const Status found = state_->with_disk([&](MemoryDisk::State& state) {
    if (has_directory(state, normal)) return Status();
    if (has_file(state, normal)) return os_error(ENOTDIR, {"open", path});
    return os_error(ENOENT, {"open", path});
  });
  if (!found.ok()) return found;
  return std::unique_ptr<Directory>(
      std::make_unique<MemoryDirectory>(state_, std::make_shared<MemorySession>(path, std::move(normal))));
}

Status MemoryFileSystem::create_directory(std::string_view path, SyncPoint point) {
  const DeviceScope device;
  if (Status valid = check_path(path); !valid.ok()) return valid;
  const std::string normal = normal_path(path);
  Step step(*state_, directory_step(OperationKind::kCreateDirectory, normal, point));
  const WriteOutcome outcome = write_outcome(step.fault());
  const SyncOutcome sync = sync_outcome(step.fault());
  if (!outcome.is_done) return outcome.answer;

  const Status begun = state_->with_disk([&](MemoryDisk::State& state) {
    if (has_file(state, normal)) {
      return call_error(Code::kIoError, {"mkdir", path}, {"a file has this name; expected a directory"})
          .with_os_error(ENOTDIR);
    }
    if (!is_root(normal) && !has_directory(state, split_path(normal).directory)) {
      return os_error(ENOENT, {"mkdir", path});
    }
    const auto [directory, is_new] = state.directories.try_emplace(normal);
    if (is_new) directory->second.in_flight = true;
    return Status();
  });
  if (!begun.ok()) return begun;
  step.during();
  return state_->with_disk([&](MemoryDisk::State& state) {
    DirectoryState& directory = state.directories[normal];
    directory.in_flight = false;
    // An earlier call may have left the name un-synced. This call syncs it.
    if (sync.fate == Fate::kDurable) directory.is_durable = true;
    return outcome.answer.ok() ? sync.answer : outcome.answer;
  });
}

Result<std::unique_ptr<ReadQueue>> MemoryFileSystem::make_read_queue(Scheduler& /*scheduler*/, std::size_t depth) {
  return MemoryReadQueue::make(depth, next_read_order_.fetch_add(1, std::memory_order_relaxed));
}

MemoryDisk MemoryFileSystem::snapshot() const {
  return state_->snapshot();
}

MemoryDisk MemoryFileSystem::power_cut(CrashPolicy policy, RandomSource& random) const {
  return crash_image(state_->snapshot(), policy, random);
}

std::vector<MemoryDisk> MemoryFileSystem::power_cuts(RandomSource& random, std::size_t images_max) const {
  return crash_images(state_->snapshot(), random, images_max);
}

MemoryDisk MemoryFileSystem::process_death(RandomSource& random) const {
  return process_death_image(state_->snapshot(), random);
}

void MemoryFileSystem::change_disk(const std::function<void(MemoryDisk&)>& change) {
  state_->change(change);
}

void MemoryFileSystem::await_stuck(std::size_t count) {
  state_->stuck().await(count);
}

std::size_t MemoryFileSystem::stuck_count() const {
  return state_->stuck().count();
}

void MemoryFileSystem::let_go() {
  state_->stuck().let_go();
}

void MemoryFileSystem::keep_no_samples() noexcept {
  state_->keep_no_samples();
}

void MemoryFileSystem::keep_object_rules() noexcept {
  state_->keep_object_rules();
}

void MemoryFileSystem::set_observer(Observer observer) {
  state_->set_observer(std::move(observer));
}

std::uint64_t MemoryFileSystem::operation_count() const noexcept {
  return state_->operation_count();
}

FaultPlan& MemoryFileSystem::faults() noexcept {
  return state_->faults();
}

void MemoryFileSystem::set_capacity_bytes(std::uint64_t bytes) {
  state_->set_capacity_bytes(bytes);
}

std::uint64_t MemoryFileSystem::used_bytes() const {
  return state_->used_bytes();
}

void MemoryFileSystem::set_read_order(std::uint64_t seed) noexcept {
  next_read_order_.store(seed, std::memory_order_relaxed);
}

void MemoryFileSystem::revoke_locks() {
  state_->locks().revoke([&](MemorySession& session) {
    // Under the disk's lock: no change of the old owner can follow.
    state_->with_disk([&](MemoryDisk::State&) { session.is_fenced.store(true, std::memory_order_release); });
  });
}

}  // namespace varve::io
