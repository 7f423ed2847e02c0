// Owns: the properties of a row of metrics (metrics_row.h).
// Must never: divide by a count of zero.
#include "tools/serve/analytics/metrics_row.h"

#include <array>
#include <utility>

namespace varve::serve {
namespace {

constexpr std::uint64_t kTicksPerMinute = 600'000'000;
constexpr std::uint64_t kMinutesPerHour = 60;
constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr std::size_t kProperties = 39;

double percent(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

double milliseconds_each(std::uint64_t nanoseconds, std::uint64_t requests) noexcept {
  if (requests == 0) return 0.0;
  return static_cast<double>(nanoseconds) / static_cast<double>(requests) / kNanosecondsPerMillisecond;
}

/// Returns the requests that failed by a fault of the server.
std::uint64_t unexpected_failures(const RequestSums& sums) noexcept {
  return sums.with(Outcome::kServerOtherError) + sums.with(Outcome::kServerTimeoutError);
}

/// Returns the requests that a service would charge for: neither throttled, nor failed by its fault, nor refused for
/// lack of any authentication.
std::uint64_t billable(const RequestSums& sums) noexcept {
  return sums.requests() - sums.with(Outcome::kThrottlingError) - unexpected_failures(sums) -
         sums.counts[count_index(Caller::kAnonymous, Outcome::kAuthorizationError)];
}

/// Returns the share of the requests that the service answered as it should, in percent.
double availability(const RequestSums& sums) noexcept {
  const std::uint64_t answered = billable(sums);
  const std::uint64_t applicable = answered + unexpected_failures(sums);
  return applicable == 0 ? 100.0 : percent(answered, applicable);
}

void add_count(Entity& row, std::string name, std::uint64_t count) {
  row.add(std::move(name), static_cast<std::int64_t>(count));
}

void add_percents(Entity& row, const RequestSums& sums) {
  const std::uint64_t all = sums.requests();
  const auto add = [&](const char* name, std::uint64_t part) { row.add(name, percent(part, all)); };
  add("PercentSuccess", sums.with(Outcome::kSuccess));
  add("PercentThrottlingError", sums.with(Outcome::kThrottlingError));
  add("PercentTimeoutError", sums.with(Outcome::kClientTimeoutError) + sums.with(Outcome::kServerTimeoutError));
  add("PercentServerOtherError", sums.with(Outcome::kServerOtherError));
  add("PercentClientOtherError", sums.with(Outcome::kClientOtherError));
  add("PercentAuthorizationError", sums.with(Outcome::kAuthorizationError));
  add("PercentNetworkError", sums.with(Outcome::kNetworkError));
}

template <typename Use>
void for_each_count(Use use) {
  for (std::size_t outcome = 0; outcome < kOutcomes; ++outcome) {
    for (std::size_t caller = 0; caller < kCallers; ++caller) {
      use(static_cast<Caller>(caller), static_cast<Outcome>(outcome));
    }
  }
}

std::uint64_t count_in(const Entity& row, const std::string& name) {
  const Value* const value = row.find(name);
  const std::int64_t* const count = value == nullptr ? nullptr : value->get_if<std::int64_t>();
  return count == nullptr || *count < 0 ? 0 : static_cast<std::uint64_t>(*count);
}

std::uint64_t nanoseconds_in(const Entity& row, const std::string& name, std::uint64_t requests) {
  const Value* const value = row.find(name);
  const double* const average = value == nullptr ? nullptr : value->get_if<double>();
  if (average == nullptr || !(*average > 0)) return 0;
  return static_cast<std::uint64_t>(*average * kNanosecondsPerMillisecond * static_cast<double>(requests) + 0.5);
}

}  // namespace

DateTime interval_start(DateTime time, MetricsInterval interval) noexcept {
  const std::uint64_t ticks = interval == MetricsInterval::kHour ? kTicksPerMinute * kMinutesPerHour : kTicksPerMinute;
  return DateTime{time.ticks - time.ticks % ticks};
}

std::string interval_name(DateTime start) {
  const std::string text = start.to_string();  // 2026-03-03T10:20:00Z
  std::string name = text.substr(0, 4);
  return name.append(text, 5, 2).append(text, 8, 2).append("T").append(text, 11, 2).append(text, 14, 2);
}

std::string type_row_key(OperationType type) {
  return std::string("user;").append(operation_type_name(type));
}

Entity metrics_row(std::string partition_key, std::string row_key, const RequestSums& sums) {
  const std::uint64_t successes = sums.with(Outcome::kSuccess);
  Entity row(std::move(partition_key), std::move(row_key));
  row.reserve(kProperties);
  add_count(row, "TotalIngress", sums.bytes_in);
  add_count(row, "TotalEgress", sums.bytes_out);
  add_count(row, "TotalRequests", sums.requests());
  add_count(row, "TotalBillableRequests", billable(sums));
  row.add("Availability", availability(sums));
  row.add("AverageE2ELatency", milliseconds_each(sums.end_to_end, successes));
  row.add("AverageServerLatency", milliseconds_each(sums.server, successes));
  add_percents(row, sums);
  for_each_count([&](Caller caller, Outcome outcome) {
    add_count(row, request_status(caller, outcome), sums.counts[count_index(caller, outcome)]);
  });
  return row;
}

RequestSums sums_of_row(const Entity& row) {
  RequestSums sums;
  for_each_count([&](Caller caller, Outcome outcome) {
    sums.counts[count_index(caller, outcome)] = count_in(row, request_status(caller, outcome));
  });
  const std::uint64_t successes = sums.with(Outcome::kSuccess);
  sums.bytes_in = count_in(row, "TotalIngress");
  sums.bytes_out = count_in(row, "TotalEgress");
  sums.end_to_end = nanoseconds_in(row, "AverageE2ELatency", successes);
  sums.server = nanoseconds_in(row, "AverageServerLatency", successes);
  return sums;
}

}  // namespace varve::serve
