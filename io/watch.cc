// Owns: the loop of a watch, and the number of threads in it (watch.h).
// Must never: read an event after it was set.
#include "io/watch.h"

#include <atomic>
#include <thread>

namespace varve::io {

namespace {

/// The threads of this process that watch now.
std::atomic<unsigned> watching{0};

/// Lets the processor save power while the thread watches memory.
void pause_processor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

bool watch_until(const Event& event, std::chrono::steady_clock::time_point end) noexcept {
  constexpr int kPausesBetweenLooks = 2;
  do {
    for (int i = 0; i < kPausesBetweenLooks; ++i) pause_processor();
    if (event.is_set()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

bool watch(const Event& event, Scheduler& scheduler) noexcept {
  if (scheduler.simulation() != nullptr) {
    scheduler.yield();
    return event.is_set();
  }
  if (event.is_set()) return true;
  static const unsigned processors = std::thread::hardware_concurrency();  // zero: not known
  bool is_set = false;
  if (watching.fetch_add(1, std::memory_order_relaxed) + 1 < processors) {
    is_set = watch_until(event, std::chrono::steady_clock::now() + kWatchMax);
  }
  watching.fetch_sub(1, std::memory_order_relaxed);
  return is_set;
}

}  // namespace varve::io
