// Owns: the count of readers at each held version.
// Must never: keep a version that is not held.

#include "engine/base/snapshots.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

namespace varve::engine {

HeldVersion::HeldVersion(HeldVersion&& other) noexcept
    : snapshots_(std::exchange(other.snapshots_, nullptr)),
      version_(std::exchange(other.version_, 0)),
      time_(std::exchange(other.time_, 0)) {}

HeldVersion& HeldVersion::operator=(HeldVersion&& other) noexcept {
  if (this == &other) return *this;
  release();
  snapshots_ = std::exchange(other.snapshots_, nullptr);
  version_ = std::exchange(other.version_, 0);
  time_ = std::exchange(other.time_, 0);
  return *this;
}

void HeldVersion::release() noexcept {
  if (snapshots_ != nullptr) snapshots_->release(version_, time_);
  snapshots_ = nullptr;
  version_ = 0;
  time_ = 0;
}

Snapshots::~Snapshots() {
  assert(held_.empty() || !owner_.is_this_process());  // A later release would use freed memory.
}

HeldVersion Snapshots::take_locked(CommitVersion version, CommitVersion time) {
  std::size_t& held = held_[version];
  if (time != 0) {
    try {
      ++times_[time];
    } catch (const std::bad_alloc&) {
      if (held == 0) held_.erase(version);
      throw;
    }
  }
  ++held;
  ++count_;
  HeldVersion snapshot;
  snapshot.snapshots_ = this;
  snapshot.version_ = version;
  snapshot.time_ = time;
  return snapshot;
}

CommitVersion Snapshots::earliest_time_locked(CommitVersion now) const noexcept {
  return times_.empty() ? now : std::min(now, times_.begin()->first);
}

std::vector<CommitVersion> Snapshots::horizon_locked(CommitVersion visible) const {
  std::vector<CommitVersion> versions;
  versions.reserve(held_.size() + 1);
  for (const auto& [version, count] : held_) versions.push_back(version);
  if (versions.empty() || versions.back() < visible) versions.push_back(visible);
  return versions;
}

std::size_t Snapshots::count() const noexcept {
  const io::MutexGuard guard(mutex_);
  return count_;
}

void Snapshots::release(CommitVersion version, CommitVersion time) noexcept {
  if (!owner_.is_this_process()) return;  // Another thread may have held the mutex at the fork.
  const io::MutexGuard guard(mutex_);
  const auto held = held_.find(version);
  assert(held != held_.end());
  --count_;
  if (--held->second == 0) held_.erase(held);
  if (time == 0) return;
  const auto timed = times_.find(time);
  assert(timed != times_.end());
  if (--timed->second == 0) times_.erase(timed);
}

}  // namespace varve::engine
