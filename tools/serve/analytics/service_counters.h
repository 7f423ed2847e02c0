// Owns: the counts of the requests to one service of one account, by operation type.
// Must never: make a request wait. Counting is a few additions to atomics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "tools/serve/analytics/operation_type.h"
#include "tools/serve/analytics/request_outcome.h"

namespace varve::serve {

/// One answered request. The bytes are those of headers and bodies.
struct CountedRequest {
  OperationType type = OperationType::kUnknown;
  Caller caller = Caller::kAuthenticated;
  Outcome outcome = Outcome::kSuccess;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  /// From the arrival of the headers to the answer.
  std::chrono::nanoseconds end_to_end{0};
  /// From the arrival of the whole request to the answer.
  std::chrono::nanoseconds server{0};
};

/// Returns the place of a count.
constexpr std::size_t count_index(Caller caller, Outcome outcome) noexcept {
  return static_cast<std::size_t>(outcome) * kCallers + static_cast<std::size_t>(caller);
}

/// The sums over some requests.
struct RequestSums {
  /// The number of requests by count_index().
  std::array<std::uint64_t, kOutcomes * kCallers> counts{};
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  /// The latencies of the successful requests in nanoseconds.
  std::uint64_t end_to_end = 0;
  std::uint64_t server = 0;

  /// Returns the number of requests.
  std::uint64_t requests() const noexcept;
  /// Returns the number of requests of all callers with an outcome.
  std::uint64_t with(Outcome outcome) const noexcept;
  RequestSums& operator+=(const RequestSums& other) noexcept;
  /// `other` are earlier sums of the same counters.
  RequestSums& operator-=(const RequestSums& other) noexcept;
  bool operator==(const RequestSums&) const = default;
};

/// The sums by operation type.
using ServiceSums = std::array<RequestSums, kOperationTypes>;

/// Can be used by any thread. Each thread counts in one of a few stripes, so that threads seldom share a cache line.
class ServiceCounters {
 public:
  void add(const CountedRequest& request) noexcept;
  /// Returns the sums of all requests since the beginning.
  ServiceSums sums() const noexcept;

 private:
  static constexpr std::size_t kStripes = 8;
  using Count = std::atomic<std::uint64_t>;
  struct Counts {
    std::array<Count, kOutcomes * kCallers> counts{};
    Count bytes_in{0};
    Count bytes_out{0};
    Count end_to_end{0};
    Count server{0};
  };
  struct alignas(64) Stripe {
    std::array<Counts, kOperationTypes> types{};
  };
  static std::size_t stripe_of_thread() noexcept;

  std::array<Stripe, kStripes> stripes_{};
};

}  // namespace varve::serve
