// Owns: the metrics of one service of one account: the present counters, and the rows that are due.
// Must never: be called by two threads at once, except for count().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "tools/serve/analytics/metrics_store.h"
#include "varve/service_properties.h"

namespace varve::serve {

class ServiceMetrics {
 public:
  ServiceMetrics(std::string account, StorageService service);

  /// Counts a request, if the account wants metrics of the service. Any thread may call it.
  void count(const CountedRequest& request) noexcept {
    ServiceCounters* const counters = counting_.load(std::memory_order_acquire);
    if (counters != nullptr) counters->add(request);
  }
  /// Returns whether requests are counted now. Any thread may call it.
  bool is_counting() const noexcept { return counting_.load(std::memory_order_relaxed) != nullptr; }

  /// Follows the properties that the account wants, writes the rows of intervals that ended before `now`, and deletes old
  /// rows. Failures are repeated by the next call. Returns whether anything was written, and has to be synced.
  bool update(Store& store, const ServiceProperties& wanted, DateTime now);
  /// Writes the rows of the intervals that have not ended. Returns as update().
  bool finish(Store& store);

  /// Returns the number of rows that were given up, because the store refused them for too long or because their commit
  /// had an unknown end. Any thread may call it.
  std::uint64_t lost_rows() const noexcept { return lost_rows_.load(std::memory_order_relaxed); }

 private:
  /// The state of the hourly or the minutely table.
  struct Interval {
    bool is_on = false;
    bool has_types = false;
    /// The beginning of the interval that has not ended.
    DateTime start{};
    /// The counters at the beginning.
    std::unique_ptr<ServiceSums> before{};
    std::deque<IntervalRows> due{};
    /// The time from which old rows are deleted next.
    DateTime deletion{};
  };

  MetricsPlace place(MetricsInterval interval) const;
  void follow(Store& store, MetricsInterval interval, const MetricsProperties& wanted, DateTime now);
  /// Ends the interval: its rows become due.
  void end(Interval& interval);
  bool write_due(Store& store, MetricsInterval interval);
  bool delete_old(Store& store, MetricsInterval interval, const MetricsProperties& wanted, DateTime now);
  Interval& at(MetricsInterval interval) { return intervals_[static_cast<std::size_t>(interval)]; }

  const std::string account_;
  const StorageService service_;
  std::unique_ptr<ServiceCounters> counters_;
  /// The counters if the account wants metrics, else null.
  std::atomic<ServiceCounters*> counting_{nullptr};
  std::array<Interval, 2> intervals_{};
  std::atomic<std::uint64_t> lost_rows_{0};
};

}  // namespace varve::serve
