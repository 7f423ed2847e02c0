// Owns: the choice of a simulated program's next thread, the passing of its time, and the report if no thread can run.
// Must never: choose by anything except the seed's numbers and the threads' states.

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "io/simulated/seeded_scheduler.h"

namespace varve::io {

namespace {

/// kSticky: the running thread continues in all decisions except one in this many.
constexpr std::uint64_t kStickiness = 8;
/// kPriority: limit of consecutive decisions that a thread wins while others are ready. Its priority is then lowered,
/// so that a thread that polls in a loop does not keep another one from running for ever.
constexpr std::uint64_t kTurnsInARowMax = 500;

}  // namespace

SeededScheduler::ThreadId SeededScheduler::choose(ThreadId me) noexcept {
  runnable_.clear();
  do {
    for (ThreadId id = 0; id < threads_.size(); ++id) {
      if (thread(id).state == State::kRunnable) runnable_.push_back(id);
    }
  } while (runnable_.empty() && advance_to_deadline());
  if (runnable_.empty()) give_up("deadlock: no thread can run and none waits for a time");

  if (runnable_.size() == 1) return runnable_.front();
  switch (policy_) {
    case SchedulePolicy::kPriority: return choose_by_priority(me);
    case SchedulePolicy::kSticky:
      if (thread(me).state == State::kRunnable && random_below(kStickiness) != 0) return me;
      break;
    case SchedulePolicy::kUniform: break;
  }
  return runnable_[random_below(runnable_.size())];
}

SeededScheduler::ThreadId SeededScheduler::choose_by_priority(ThreadId me) noexcept {
  if (random_below(change_rate_) == 0 || turns_in_a_row_ >= kTurnsInARowMax) thread(me).priority = --lowest_priority_;
  const ThreadId next = *std::max_element(runnable_.begin(), runnable_.end(), [&](ThreadId left, ThreadId right) {
    return thread(left).priority < thread(right).priority;
  });
  turns_in_a_row_ = next == me ? turns_in_a_row_ + 1 : 0;
  return next;
}

void SeededScheduler::expire_deadlines() noexcept {
  const std::chrono::nanoseconds now = clock_.monotonic();
  for (const std::unique_ptr<ThreadRecord>& record : threads_) {
    if (record->state != State::kWaitsForCondition || !record->deadline.has_value() || *record->deadline > now)
      continue;
    wake(*record);
    record->timed_out = true;
  }
}

bool SeededScheduler::advance_to_deadline() noexcept {
  std::optional<std::chrono::nanoseconds> earliest;
  for (const std::unique_ptr<ThreadRecord>& record : threads_) {
    if (record->deadline.has_value() && (!earliest.has_value() || *record->deadline < *earliest)) {
      earliest = record->deadline;
    }
  }
  if (!earliest.has_value()) return false;
  clock_.advance(*earliest - clock_.monotonic());
  expire_deadlines();
  return true;
}

void SeededScheduler::mix(std::uint64_t value) noexcept {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15u;
  trace_hash_ = (trace_hash_ ^ value) * kOdd;
  trace_hash_ ^= trace_hash_ >> 29;
}

void SeededScheduler::give_up(const char* reason) noexcept {
  std::fprintf(stderr, "seeded scheduler, seed %" PRIu64 ", decision %" PRIu64 ": %s\n", seed_, decision_count_,
               reason);
  for (ThreadId id = 0; id < threads_.size(); ++id) describe(id);
  std::abort();
}

void SeededScheduler::describe(ThreadId id) noexcept {
  const ThreadRecord& record = thread(id);
  std::fprintf(stderr, "  thread %" PRIu64 " '%s' ", id, record.name.c_str());
  switch (record.state) {
    case State::kRunnable: std::fprintf(stderr, "can run%s\n", id == running_ ? " and does" : ""); return;
    case State::kWaitsForMutex: {
      const auto held = find_held(record.awaited);
      const ThreadId owner = held == held_.end() ? id : held->owner;
      std::fprintf(stderr, "waits for mutex %p, held by thread %" PRIu64 " '%s'\n", record.awaited, owner,
                   thread(owner).name.c_str());
      return;
    }
    case State::kWaitsForCondition: std::fprintf(stderr, "waits for condition %p\n", record.awaited); return;
    case State::kWaitsForEvent: std::fprintf(stderr, "waits for event %p\n", record.awaited); return;
    case State::kJoins:
      std::fprintf(stderr, "joins thread %" PRIu64 " '%s'\n", record.joined, thread(record.joined).name.c_str());
      return;
    case State::kEnded: std::fprintf(stderr, "has ended\n"); return;
  }
}

}  // namespace varve::io
