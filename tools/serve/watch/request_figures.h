// Owns: counters of requests and answers by operation: number, duration, status.
// Must never: make a request wait. Counting is an addition to an atomic.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/rest/service/operation.h"

namespace varve::serve {

/// The statuses that the server returns. The last entry counts every other status.
inline constexpr std::array<std::uint16_t, 19> kCountedStatuses = {200, 201, 202, 204, 400, 401, 403, 404, 405, 409,
                                                                   411, 412, 413, 415, 500, 501, 503, 304, 0};
/// The upper bounds of the latency histogram in nanoseconds. One more bucket counts longer requests.
inline constexpr std::array<std::uint64_t, 15> kLatencyBounds = {
    100'000,    250'000,     500'000,     1'000'000,   2'500'000,     5'000'000,     10'000'000,    25'000'000,
    50'000'000, 100'000'000, 250'000'000, 500'000'000, 1'000'000'000, 2'500'000'000, 10'000'000'000};

/// One request and its answer. The bytes are those of the bodies.
struct RequestRecord {
  Operation operation = Operation::kUnresolved;
  std::uint16_t status = 200;
  std::chrono::nanoseconds duration{0};
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  /// From the arrival of the headers. It is longer than `duration` if the body arrived later.
  std::chrono::nanoseconds end_to_end{0};
};

struct OperationFigures {
  /// Counts by the index in kCountedStatuses.
  std::array<std::uint64_t, kCountedStatuses.size()> statuses{};
  /// The requests of each bucket alone, not cumulated.
  std::array<std::uint64_t, kLatencyBounds.size() + 1> latencies{};
  std::uint64_t nanoseconds = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;

  std::uint64_t requests() const noexcept;
  /// Returns the number of answers with 4xx and 5xx.
  std::uint64_t failures() const noexcept;
};

/// Can be used by any thread.
class RequestFigures {
 public:
  void add(const RequestRecord& record) noexcept;
  /// Counts a message that could not be read as a request.
  void add_unreadable() noexcept { unreadable_.fetch_add(1, std::memory_order_relaxed); }

  OperationFigures of(Operation operation) const noexcept;
  std::uint64_t unreadable() const noexcept { return unreadable_.load(std::memory_order_relaxed); }

 private:
  using Count = std::atomic<std::uint64_t>;
  struct alignas(64) Counts {
    std::array<Count, kCountedStatuses.size()> statuses{};
    std::array<Count, kLatencyBounds.size() + 1> latencies{};
    Count nanoseconds{0};
    Count bytes_in{0};
    Count bytes_out{0};
  };
  std::array<Counts, kOperations> operations_{};
  Count unreadable_{0};
};

}  // namespace varve::serve
