// Owns: the load of each loop, and which loop gives connections to which other one.
// Must never: touch a connection. A connection asks between two requests, and moves by itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

namespace varve::serve {

/// What one loop has done in an interval.
struct LoopWork {
  std::chrono::nanoseconds processor_time{0};
  std::uint64_t requests = 0;
};

/// A plan to even out the loads of two loops: connections of `from` with about `requests` requests an interval together
/// shall move to `to`.
struct LoopMove {
  std::size_t from = 0;
  std::size_t to = 0;
  std::uint64_t requests = 0;
};
/// Returns a plan for the busiest and the idlest loop. Returns nothing if their loads differ by less than a quarter of
/// the interval, which is not worth a move.
std::optional<LoopMove> plan_move(const std::vector<LoopWork>& loops, std::chrono::nanoseconds interval);

class LoopBalance;

/// The load of one context, which one thread runs. asio::use_service() finds it.
class LoopLoad final : public boost::asio::execution_context::service {
 public:
  static inline boost::asio::execution_context::id id{};  // NOLINT(readability-identifier-naming): the library's name
  explicit LoopLoad(boost::asio::execution_context& context)
      : service(context), context_(static_cast<boost::asio::io_context&>(context)) {}

  /// One connection's part of the load. On the thread of the loop.
  struct Part {
    std::uint64_t interval = 0;
    std::uint64_t requests = 0;         // in that interval
    std::uint64_t requests_before = 0;  // in the interval before it
  };

  // Called on any thread:
  void connection_began() noexcept { connections_.fetch_add(1, std::memory_order_relaxed); }
  void connection_ended() noexcept { connections_.fetch_sub(1, std::memory_order_relaxed); }
  std::size_t connections() const noexcept { return connections_.load(std::memory_order_relaxed); }

  // Called on the thread of the loop:
  /// Counts a request of a connection. Sometimes the balance looks at all loops then.
  void count_request(Part& part);
  /// Returns the context to which a connection of this part of the load shall move, or null. The part counts as large as
  /// it was in the interval that has ended, because plans are made of that interval.
  boost::asio::io_context* take_move(const Part& part) noexcept;

 private:
  friend class LoopBalance;
  /// Number of requests of a loop after which it looks at the loads.
  static constexpr std::uint64_t kRequestsBetween = 256;

  void shutdown() noexcept override {}

  boost::asio::io_context& context_;
  LoopBalance* balance_ = nullptr;  // set before the threads start
  std::atomic<std::size_t> connections_{0};
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> interval_{1};
  /// The requests that may still move away, and where to.
  std::atomic<std::uint64_t> to_move_{0};
  std::atomic<boost::asio::io_context*> move_to_{nullptr};
};

/// All loops of a server. Any thread may use it.
class LoopBalance {
 public:
  /// The contexts outlive this object, and their threads have not started.
  explicit LoopBalance(const std::vector<boost::asio::io_context*>& contexts);
  LoopBalance(const LoopBalance&) = delete;
  LoopBalance& operator=(const LoopBalance&) = delete;

  /// Called once by the thread that runs the context, before it runs handlers.
  void runs_here(boost::asio::io_context& context) noexcept;
  /// Returns the context with the fewest connections, for the next one. Of equal ones, each gets its turn.
  boost::asio::io_context& least_loaded() noexcept;
  /// Looks at the loads if an interval has passed, and lets connections move accordingly.
  void look(std::chrono::steady_clock::time_point now) noexcept;
  /// Ends the interval, and lets connections of one loop move to another in the next one. look() calls it.
  void end_interval(const std::optional<LoopMove>& move) noexcept;

 private:
  struct Loop {
    LoopLoad* load = nullptr;
    /// The processor clock of the loop's thread.
    std::optional<clockid_t> clock;
    LoopWork before;  // at the last look
  };
  static constexpr std::chrono::milliseconds kInterval{100};

  std::atomic<std::size_t> turn_{0};
  std::mutex mutex_;
  std::vector<Loop> loops_;  // their clocks and earlier work: under the mutex
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace varve::serve
