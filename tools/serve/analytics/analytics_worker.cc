// Owns: when metrics are written (analytics_worker.h).
// Must never: hold its mutex while the store works.
#include "tools/serve/analytics/analytics_worker.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/serve/analytics/metrics_row.h"

namespace varve::serve {
namespace {

/// The longest wait, since the clock may be set forward.
constexpr std::chrono::milliseconds kLongestWait{5'000};
/// The time after which entries of logs are written. Source: AL-07.
constexpr std::chrono::milliseconds kLogInterval{2'000};
constexpr std::uint64_t kTicksPerMillisecond = 10'000;
constexpr std::uint64_t kTicksPerWholeMinute = 600'000'000;

/// Returns the time until the next minute, at most kLongestWait.
std::chrono::milliseconds time_to_wait(DateTime now) noexcept {
  const std::uint64_t left = kTicksPerWholeMinute - now.ticks % kTicksPerWholeMinute;
  return std::min(std::chrono::milliseconds(left / kTicksPerMillisecond + 1), kLongestWait);
}

}  // namespace

struct AnalyticsWorker::State {
  State(Analytics& served, std::function<DateTime()> time) : analytics(served), clock(std::move(time)) {}

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      const std::chrono::milliseconds longest = analytics.is_writing() ? kLogInterval : kLongestWait;
      changed.wait_for(lock, std::min(time_to_wait(clock()), longest),
                       [this] { return is_ending || is_awake || must_write; });
      if (is_ending) return;
      const DateTime minute = interval_start(clock(), MetricsInterval::kMinute);
      const bool must_update = std::exchange(is_awake, false) || minute != last_minute;
      must_write = false;
      lock.unlock();
      if (must_update) {
        update();
      } else {
        write();
      }
      lock.lock();
    }
  }
  void write() noexcept {
    try {
      analytics.write(clock());
    } catch (const std::bad_alloc&) {
      // The next write has the waiting entries.
    }
  }
  void update() noexcept {
    try {
      const DateTime now = clock();
      last_minute = interval_start(now, MetricsInterval::kMinute);
      analytics.update(now);
    } catch (const std::bad_alloc&) {
      // The next update writes the rows that are due.
    }
  }

  Analytics& analytics;
  const std::function<DateTime()> clock;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_awake = false;
  bool must_write = false;
  bool is_ending = false;
  bool has_finished = false;
  /// Used by the thread, and before it starts.
  DateTime last_minute{};
  std::thread thread;
};

AnalyticsWorker::AnalyticsWorker(Analytics& analytics, std::function<DateTime()> clock)
    : state_(std::make_unique<State>(analytics, std::move(clock))) {
  state_->update();
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);  // Other threads handle signals.
  try {
    state_->thread = std::thread([state = state_.get()] { state->run(); });
  } catch (const std::system_error&) {
    // There is no thread. finish() writes the rows.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

AnalyticsWorker::~AnalyticsWorker() {
  finish();
}

void AnalyticsWorker::wake() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->is_awake = true;
  state_->changed.notify_one();
}

void AnalyticsWorker::write_soon() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->must_write = true;
  state_->changed.notify_one();
}

void AnalyticsWorker::finish() noexcept {
  State& state = *state_;
  {
    const std::lock_guard lock(state.mutex);
    if (std::exchange(state.has_finished, true)) return;
    state.is_ending = true;
    state.changed.notify_one();
  }
  if (state.thread.joinable()) state.thread.join();
  try {
    state.analytics.finish();  // reads nothing of the store if no account wants metrics or logs
  } catch (const std::bad_alloc&) {
    // The figures of the last intervals stay low.
  }
}

}  // namespace varve::serve
