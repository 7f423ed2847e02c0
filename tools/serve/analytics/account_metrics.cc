// Owns: the steps from counts to rows of metrics (account_metrics.h).
// Must never: count a request in two intervals, or add the sums of an interval to a row twice.
#include "tools/serve/analytics/account_metrics.h"

#include <utility>

#include "tools/serve/analytics/later_attempt.h"
#include "tools/serve/analytics/metrics_row.h"

namespace varve::serve {
namespace {

constexpr std::array kIntervals = {MetricsInterval::kHour, MetricsInterval::kMinute};
/// The intervals whose rows wait for a store that refuses them.
constexpr std::size_t kDueMax = 60;

}  // namespace

ServiceMetrics::ServiceMetrics(std::string account, StorageService service)
    : account_(std::move(account)), service_(service) {}

MetricsPlace ServiceMetrics::place(MetricsInterval interval) const {
  return {account_, service_, interval};
}

bool ServiceMetrics::update(Store& store, const ServiceProperties& wanted, DateTime now) {
  const bool is_on = wanted.hour_metrics.enabled || wanted.minute_metrics.enabled;
  if (is_on && counters_ == nullptr) counters_ = std::make_unique<ServiceCounters>();
  // A request that is counted belongs to an interval: counting begins after the first one, and ends before the last.
  if (!is_on) counting_.store(nullptr, std::memory_order_release);
  follow(store, MetricsInterval::kHour, wanted.hour_metrics, now);
  follow(store, MetricsInterval::kMinute, wanted.minute_metrics, now);
  if (is_on) counting_.store(counters_.get(), std::memory_order_release);
  bool has_written = false;
  for (const MetricsInterval interval : kIntervals) {
    const bool is_hour = interval == MetricsInterval::kHour;
    const MetricsProperties& properties = is_hour ? wanted.hour_metrics : wanted.minute_metrics;
    has_written = write_due(store, interval) || has_written;
    has_written = delete_old(store, interval, properties, now) || has_written;
  }
  return has_written;
}

bool ServiceMetrics::finish(Store& store) {
  counting_.store(nullptr, std::memory_order_release);
  bool has_written = false;
  for (const MetricsInterval interval : kIntervals) {
    if (at(interval).is_on) end(at(interval));
    at(interval).is_on = false;
    has_written = write_due(store, interval) || has_written;
  }
  return has_written;
}

void ServiceMetrics::follow(Store& store, MetricsInterval interval, const MetricsProperties& wanted, DateTime now) {
  Interval& state = at(interval);
  const DateTime start = interval_start(now, interval);
  const bool has_ended = state.is_on && (start > state.start || !wanted.enabled);
  if (has_ended) end(state);
  state.has_types = wanted.include_apis;
  if (wanted.enabled && (has_ended || !state.is_on)) {
    if (!state.is_on) (void)make_metrics_table(store, place(interval));  // the first row makes it otherwise
    state.start = start;
    state.before = std::make_unique<ServiceSums>(counters_->sums());
  }
  state.is_on = wanted.enabled;
}

void ServiceMetrics::end(Interval& interval) {
  const ServiceSums now = counters_->sums();
  IntervalRows ended{interval.start, {{std::string(kAllRequests), {}}, {std::string(kSystemRequests), {}}}};
  for (std::size_t type = 0; type < kOperationTypes; ++type) {
    RequestSums sums = now[type];
    sums -= (*interval.before)[type];
    if (sums.requests() == 0) continue;
    ended.rows.front().sums += sums;
    const auto named = static_cast<OperationType>(type);
    if (interval.has_types && named != OperationType::kUnknown) ended.rows.push_back({type_row_key(named), sums});
  }
  // A second end before the next beginning must not have these requests again.
  *interval.before = now;
  interval.due.push_back(std::move(ended));
  if (interval.due.size() <= kDueMax) return;
  lost_rows_.fetch_add(interval.due.front().rows.size(), std::memory_order_relaxed);
  interval.due.pop_front();
}

bool ServiceMetrics::write_due(Store& store, MetricsInterval interval) {
  std::deque<IntervalRows>& due = at(interval).due;
  bool has_written = false;
  while (!due.empty()) {
    const Status written = add_to_metrics(store, place(interval), due.front());
    if (!written.ok() && has_later_attempt(written.code())) break;
    if (!written.ok()) lost_rows_.fetch_add(due.front().rows.size(), std::memory_order_relaxed);
    has_written = has_written || written.ok();
    due.pop_front();
  }
  return has_written;
}

bool ServiceMetrics::delete_old(Store& store, MetricsInterval interval, const MetricsProperties& wanted, DateTime now) {
  Interval& state = at(interval);
  if (!wanted.retention_days || now < state.deletion) return false;
  const std::uint64_t kept = *wanted.retention_days * kTicksOfDay;
  if (now.ticks < kept) return false;
  const Result<bool> done =
      delete_old_metrics(store, place(interval), interval_start(DateTime{now.ticks - kept}, interval));
  if (done.ok() && *done) state.deletion = DateTime{now.ticks + kTicksBetweenDeletions};
  return true;
}

}  // namespace varve::serve
