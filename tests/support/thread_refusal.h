// Owns: a simulated scheduler that refuses one thread, like a system without free threads.
// Must never: change any other behaviour of the wrapped simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string_view>

#include "io/scheduler.h"

namespace varve::test {

/// Wraps another simulation. Counts the threads that scheduler() starts.
class ThreadRefusal final : public io::Simulation {
 public:
  explicit ThreadRefusal(io::Simulation& behind) noexcept : behind_(behind), scheduler_(*this) {}

  io::Scheduler& scheduler() noexcept { return scheduler_; }
  /// Refuses the n-th thread that is started from now on. The first is number zero.
  void refuse(std::uint64_t nth) noexcept {
    started_ = 0;
    refused_ = nth;
    happened_ = false;
  }
  void refuse_none() noexcept { refused_.reset(); }
  bool happened() const noexcept { return happened_; }

  void lock(const void* mutex) noexcept override { behind_.lock(mutex); }
  void unlock(const void* mutex) noexcept override { behind_.unlock(mutex); }
  bool wait(const void* condition, const void* mutex,
            std::optional<std::chrono::nanoseconds> timeout) noexcept override {
    return behind_.wait(condition, mutex, timeout);
  }
  void notify(const void* condition, bool all) noexcept override { behind_.notify(condition, all); }
  void event_wait(const std::atomic<std::uint32_t>* word) noexcept override { behind_.event_wait(word); }
  void event_set(const std::atomic<std::uint32_t>* word) noexcept override { behind_.event_set(word); }
  void yield() noexcept override { behind_.yield(); }
  void run_thread(std::uint64_t ticket, const std::function<void()>& body) noexcept override {
    behind_.run_thread(ticket, body);
  }
  std::uint64_t announce_thread(std::string_view name) override {
    if (refused_ && started_++ == *refused_) {
      happened_ = true;
      throw std::bad_alloc();  // start() converts it to kOutOfMemory
    }
    return behind_.announce_thread(name);
  }
  void join(std::uint64_t ticket) noexcept override { behind_.join(ticket); }

 private:
  io::Simulation& behind_;
  io::Scheduler scheduler_;
  std::uint64_t started_ = 0;
  std::optional<std::uint64_t> refused_;
  bool happened_ = false;
};

}  // namespace varve::test
