// Owns: counting and summing the requests of one service (service_counters.h).
// Must never: lose a count.
#include "tools/serve/analytics/service_counters.h"

#include <algorithm>

namespace varve::serve {
namespace {

std::uint64_t nanoseconds_of(std::chrono::nanoseconds time) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}

}  // namespace

std::uint64_t RequestSums::requests() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

std::uint64_t RequestSums::with(Outcome outcome) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    sum += counts[count_index(static_cast<Caller>(caller), outcome)];
  }
  return sum;
}

RequestSums& RequestSums::operator+=(const RequestSums& other) noexcept {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  bytes_in += other.bytes_in;
  bytes_out += other.bytes_out;
  end_to_end += other.end_to_end;
  server += other.server;
  return *this;
}

RequestSums& RequestSums::operator-=(const RequestSums& other) noexcept {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= other.counts[i];
  bytes_in -= other.bytes_in;
  bytes_out -= other.bytes_out;
  end_to_end -= other.end_to_end;
  server -= other.server;
  return *this;
}

std::size_t ServiceCounters::stripe_of_thread() noexcept {
  static std::atomic<std::size_t> threads{0};
  static thread_local const std::size_t stripe = threads.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripe;
}

void ServiceCounters::add(const CountedRequest& request) noexcept {
  Counts& counts = stripes_[stripe_of_thread()].types[static_cast<std::size_t>(request.type)];
  counts.counts[count_index(request.caller, request.outcome)].fetch_add(1, std::memory_order_relaxed);
  counts.bytes_in.fetch_add(request.bytes_in, std::memory_order_relaxed);
  counts.bytes_out.fetch_add(request.bytes_out, std::memory_order_relaxed);
  if (request.outcome != Outcome::kSuccess) return;
  counts.end_to_end.fetch_add(nanoseconds_of(request.end_to_end), std::memory_order_relaxed);
  counts.server.fetch_add(nanoseconds_of(request.server), std::memory_order_relaxed);
}

ServiceSums ServiceCounters::sums() const noexcept {
  ServiceSums sums;
  for (const Stripe& stripe : stripes_) {
    for (std::size_t type = 0; type < kOperationTypes; ++type) {
      const Counts& counts = stripe.types[type];
      RequestSums& sum = sums[type];
      for (std::size_t i = 0; i < counts.counts.size(); ++i) {
        sum.counts[i] += counts.counts[i].load(std::memory_order_relaxed);
      }
      sum.bytes_in += counts.bytes_in.load(std::memory_order_relaxed);
      sum.bytes_out += counts.bytes_out.load(std::memory_order_relaxed);
      sum.end_to_end += counts.end_to_end.load(std::memory_order_relaxed);
      sum.server += counts.server.load(std::memory_order_relaxed);
    }
  }
  return sums;
}

}  // namespace varve::serve
