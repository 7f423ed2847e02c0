// Owns: counters of the reloads of a server's settings.
// Must never: know which settings were reloaded.
#pragma once

#include <atomic>
#include <cstdint>

namespace varve::serve {

/// Can be used by any thread. The start of a server counts as a successful load, as in Prometheus.
class ReloadFigures {
 public:
  void add(bool is_successful, std::int64_t unix_seconds) noexcept {
    (is_successful ? done_ : refused_).fetch_add(1, std::memory_order_relaxed);
    note(is_successful, unix_seconds);
  }
  /// Sets the result of the last load without counting a reload.
  void note(bool is_successful, std::int64_t unix_seconds) noexcept {
    is_last_successful_.store(is_successful, std::memory_order_relaxed);
    if (is_successful) last_success_.store(unix_seconds, std::memory_order_relaxed);
  }

  std::uint64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  bool is_last_successful() const noexcept { return is_last_successful_.load(std::memory_order_relaxed); }
  /// Returns the time of the last success in seconds since 1970. 0: there was none.
  std::int64_t last_success() const noexcept { return last_success_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<bool> is_last_successful_{true};
  std::atomic<std::int64_t> last_success_{0};
};

}  // namespace varve::serve
