// Owns: steps, samples of shared memory, and the space on the device.
// Must never: show a step to an observer before counting it.

#include "io/simulated/memory_state.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "io/os_error.h"

namespace varve::io {

namespace {

constexpr int kDelayTurns = 1000;

/// The interval in mutating steps at which shared memory is sampled for later power cuts, and the number of samples
/// kept.
constexpr std::uint64_t kSampleEvery = 8;
constexpr std::size_t kSamplesMax = 4;

// The program may write this memory while the kernel reads it. No lock orders the two, and none is needed: every
// mixture of old and new is a state that the device may get. Therefore the thread sanitizer is disabled here. The loop
// reads through volatile so that it does not become a call of memcpy, in which the sanitizer is enabled.
__attribute__((no_sanitize("thread"))) void copy_page(std::span<const std::byte> from,
                                                      std::array<std::uint64_t, kPageBytes / 8>& to) noexcept {
  const volatile std::uint64_t* const words = reinterpret_cast<const volatile std::uint64_t*>(from.data());
  for (std::size_t i = 0; i < kPageBytes / 8; ++i) to[i] = words[i];
}

std::uint64_t space_taken_by(const FileState& file) noexcept {
  std::uint64_t end = std::max(file.cached.size_bytes(), file.reserved_bytes);
  for (const PendingWrite& write : file.pending) {
    if (write.in_flight) end = std::max(end, write.end_offset());
  }
  return space_taken(end);
}

std::uint64_t space_taken_by_all(const MemoryDisk::State& state) {
  std::vector<FileId> named;
  for (const auto& [path, directory] : state.directories) {
    for (const auto& [name, file] : directory.cached) named.push_back(file);
  }
  std::sort(named.begin(), named.end());
  std::uint64_t sum = 0;
  for (const auto& [id, file] : state.files) {
    if (file.handle_count > 0 || std::binary_search(named.begin(), named.end(), id)) sum += space_taken_by(file);
  }
  return sum;
}

}  // namespace

thread_local int DeviceScope::depth = 0;

std::uint64_t space_taken(std::uint64_t size_bytes) noexcept {
  return (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

MemoryContent SharedPages::capture(const MemoryContent& earlier) const {
  static_assert(kSectorBytes % kPageBytes == 0);
  const std::span<const std::byte> memory = memory_.bytes();
  MemoryContent content = earlier;
  content.resize(memory.size());
  std::array<std::uint64_t, kPageBytes / 8> now;
  std::array<std::uint64_t, kPageBytes / 8> before;
  for (std::size_t offset = 0; offset < memory.size(); offset += kPageBytes) {
    copy_page(memory.subspan(offset, kPageBytes), now);
    content.read(offset, std::as_writable_bytes(std::span(before)));
    if (now != before) content.write(offset, std::as_bytes(std::span(now)));
  }
  return content;
}

std::string MemorySession::path_of(std::string_view name) const {
  std::string whole = path;
  if (!whole.ends_with('/')) whole.push_back('/');
  return whole.append(name);
}

Status MemorySession::check_writable(std::string_view call, std::string_view name) const {
  if (!owner.is_this_process()) {
    return call_error(Code::kLocked, {call, path_of(name)}, {"this process is a fork of the one that opened it"});
  }
  if (!is_fenced.load(std::memory_order_acquire)) return Status();
  return call_error(Code::kFenced, {call, path_of(name)}, {"another owner has taken the lock"});
}

// -- MemoryState ------------------------------------------------------------------------------------------------------

MemoryState::MemoryState(Scheduler* scheduler, MemoryDisk disk)
    : scheduler_(scheduler == nullptr ? &own_scheduler_ : scheduler),
      locks_(*scheduler_),
      stuck_(*scheduler_),
      disk_(std::move(disk)) {}

MemoryDisk MemoryState::snapshot() {
  const std::lock_guard<std::mutex> guard(mutex_);
  MemoryDisk copy = disk_;
  for (auto& [id, file] : copy.state().files) {
    file.handle_count = 0;
    if (file.mapped == nullptr) continue;
    file.cached = file.mapped->capture(file.samples.empty() ? file.durable : file.samples.back());
    file.mapped.reset();
  }
  return copy;
}

void MemoryState::change(const std::function<void(MemoryDisk&)>& change) {
  const std::lock_guard<std::mutex> guard(mutex_);
  change(disk_);
}

void MemoryState::set_observer(Observer observer) {
  const std::lock_guard<std::mutex> guard(mutex_);
  observer_ = observer == nullptr ? nullptr : std::make_shared<const Observer>(std::move(observer));
}

std::shared_ptr<const Observer> MemoryState::observer() {
  const std::lock_guard<std::mutex> guard(mutex_);
  return observer_;
}

void MemoryState::set_capacity_bytes(std::uint64_t bytes) {
  const std::lock_guard<std::mutex> guard(mutex_);
  capacity_bytes_ = bytes;
}

std::uint64_t MemoryState::used_bytes() {
  return with_disk([](const MemoryDisk::State& state) { return space_taken_by_all(state); });
}

bool MemoryState::has_room(const MemoryDisk::State& state, const FileState& file, std::uint64_t size_bytes) const {
  if (capacity_bytes_ == MemoryFileSystem::kUnlimited) return true;
  const std::uint64_t own = space_taken_by(file);
  const std::uint64_t asked = space_taken(size_bytes);
  if (asked <= own) return true;
  const std::uint64_t used = space_taken_by_all(state);
  return used <= capacity_bytes_ && asked - own <= capacity_bytes_ - used;
}

Status MemoryState::take_late_error(const std::string& what) {
  const auto found = late_errors_.find(what);
  if (found == late_errors_.end()) return Status();
  Status error = std::move(found->second);
  late_errors_.erase(found);
  return error;
}

void MemoryState::keep_late_error(const std::string& what, Status error) {
  if (!error.ok()) late_errors_[what] = std::move(error);
}

void MemoryState::sample_shared_memory() {
  if (!keeps_samples_.load(std::memory_order_relaxed)) return;
  with_disk([](MemoryDisk::State& state) {
    for (auto& [id, file] : state.files) {
      if (file.mapped == nullptr) continue;
      MemoryContent sample = file.mapped->capture(file.samples.empty() ? file.durable : file.samples.back());
      if (!file.samples.empty() && sample == file.samples.back()) continue;
      if (file.samples.size() == kSamplesMax) file.samples.erase(file.samples.begin());
      file.samples.push_back(std::move(sample));
    }
  });
}

// -- StuckSteps -------------------------------------------------------------------------------------------------------

void StuckSteps::stay() noexcept {
  const MutexGuard guard(mutex_);
  ++count_;
  changed_.notify_all();
  const std::uint64_t before = let_go_;
  while (let_go_ == before) changed_.wait(mutex_);
}

void StuckSteps::await(std::size_t count) noexcept {
  const MutexGuard guard(mutex_);
  while (count_ < count) changed_.wait(mutex_);
}

std::size_t StuckSteps::count() noexcept {
  const MutexGuard guard(mutex_);
  return count_;
}

void StuckSteps::let_go() noexcept {
  const MutexGuard guard(mutex_);
  ++let_go_;
  count_ = 0;
  changed_.notify_all();
}

// -- Step -------------------------------------------------------------------------------------------------------------

Step::Step(MemoryState& state, const Operation& operation) : state_(state), operation_(operation) {
  state_.scheduler().yield();
  if (is_mutating(operation_.kind)) {
    operation_.index = state_.operation_count_.fetch_add(1, std::memory_order_relaxed);
    observer_ = state_.observer();
    tell_observer(Moment::kBefore);
  } else {
    operation_.index = state_.operation_count();
  }
  fault_ = state_.faults().match(operation_);
  if (!fault_.has_value()) return;
  if (fault_->effect == FaultEffect::kDelay) {
    for (int i = 0; i < kDelayTurns; ++i) state_.scheduler().yield();
    fault_.reset();
  } else if (fault_->effect == FaultEffect::kNeverThenError) {
    is_stuck_ = true;
  } else if (fault_->effect == FaultEffect::kNever) {
    fault_.reset();
    is_stuck_ = is_mutating(operation_.kind);  // in flight, if this kind of step has a flight
    if (!is_stuck_) state_.stuck().stay();
  }
}

/// Calls the observer only if it was set when the step began and still is.
void Step::tell_observer(Moment moment) {
  if (observer_ != nullptr && observer_ == state_.observer()) (*observer_)(operation_, moment);
}

void Step::during() {
  // Yields before and after, because changes tear together only if they are in flight together.
  state_.scheduler().yield();
  tell_observer(Moment::kDuring);
  if (is_stuck_) state_.stuck().stay();
  state_.scheduler().yield();
}

Step::~Step() {
  if (is_mutating(operation_.kind)) {
    if (operation_.index % kSampleEvery == 0) state_.sample_shared_memory();
    tell_observer(Moment::kAfter);
  }
  state_.scheduler().yield();
}

// -- FileHold ---------------------------------------------------------------------------------------------------------

FileHold::~FileHold() {
  const DeviceScope device;
  if (state_ == nullptr) return;
  state_->with_disk([&](MemoryDisk::State& state) {
    FileState& held = file(state);
    assert(held.handle_count > 0);
    if (--held.handle_count == 0) forget_nameless_files(state);
  });
}

}  // namespace varve::io
