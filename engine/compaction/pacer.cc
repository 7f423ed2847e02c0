// Owns: the account of the waits that commits owe (pacer.h).
// Must never: need more than a few atomic reads if there is no pressure.
#include "engine/compaction/pacer.h"

#include "engine/levels/debt.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// Shortest sleep. The system wakes a sleeping thread about 60 microseconds late; the sleep is several times that.
constexpr std::chrono::nanoseconds kSleepMin = std::chrono::microseconds(250);

}  // namespace

Pacer::Pacer(io::Scheduler& scheduler, WriteShare& share) noexcept
    : share_(share), mutex_(scheduler), stopped_(scheduler) {}

void Pacer::look_at(const Levels& levels) noexcept {
  level0_flush_count_.store(levels.flush_count(), std::memory_order_relaxed);
  debt_bytes_.store(compaction_debt_bytes(levels, shape_), std::memory_order_relaxed);
}

std::chrono::nanoseconds Pacer::delay_of(std::uint64_t commit_bytes) const noexcept {
  PacingInput input;
  input.write_buffer_used_bytes = share_.used_bytes();
  input.write_buffer_bytes = share_.bytes_max();
  input.level0_flush_count = level0_flush_count_.load(std::memory_order_relaxed);
  input.debt_bytes = debt_bytes();
  return commit_delay(input, limits_, commit_bytes);
}

bool Pacer::is_pacing() const noexcept {
  constexpr std::uint64_t kLargeCommit = 1 << 20;  // A smaller commit may have a delay of zero.
  return delay_of(kLargeCommit).count() > 0;
}

void Pacer::pace(std::uint64_t commit_bytes) noexcept {
  const std::chrono::nanoseconds delay = delay_of(commit_bytes);
  if (delay.count() == 0) return;
  const std::int64_t owed = owed_nanoseconds_.fetch_add(delay.count(), std::memory_order_relaxed) + delay.count();
  if (owed < kSleepMin.count()) return;
  wait_out(std::chrono::nanoseconds(owed_nanoseconds_.exchange(0, std::memory_order_relaxed)));
}

void Pacer::wait_out(std::chrono::nanoseconds duration) noexcept {
  if (duration.count() <= 0) return;  // Another thread has taken it over.
  io::probe("a commit was held back");
  share_.relieve();
  waited_nanoseconds_.fetch_add(duration.count(), std::memory_order_relaxed);
  const io::MutexGuard guard(mutex_);
  if (!stopping_) (void)stopped_.wait_for(mutex_, duration);
}

void Pacer::stop() noexcept {
  const io::MutexGuard guard(mutex_);
  stopping_ = true;
  stopped_.notify_all();
}

}  // namespace varve::engine
