// Owns: the steps from a request to its entry in a log (service_log.h).
// Must never: write an entry twice.
#include "tools/serve/analytics/service_log.h"

#include <new>
#include <utility>

#include "tools/serve/analytics/later_attempt.h"
#include "tools/serve/analytics/metrics_row.h"

namespace varve::serve {

ServiceLog::ServiceLog(std::string account, StorageService service, LogRoom& room)
    : account_(account), service_(service), queue_(room), writer_(std::move(account), service) {}

bool ServiceLog::add(const LoggedExchange& exchange) noexcept {
  const std::uint8_t classes = classes_.load(std::memory_order_relaxed);
  const auto wants = [classes](RequestClass of) { return (classes & class_bit(of)) != 0; };
  const LoggingProperties wanted{wants(RequestClass::kRead), wants(RequestClass::kWrite), wants(RequestClass::kDelete),
                                 std::nullopt};
  try {
    if (!is_logged(wanted, exchange)) return false;
    const LogQueue::Pushed pushed = queue_.push(log_entry(exchange), exchange.start, class_of(exchange));
    if (pushed == LogQueue::Pushed::kDropped) lose(1);
    return pushed == LogQueue::Pushed::kHalfFull;
  } catch (const std::bad_alloc&) {
    lose(1);
    return false;
  }
}

void ServiceLog::follow(const LoggingProperties& wanted) {
  std::uint8_t classes = 0;
  const auto set = [&classes](bool is_wanted, RequestClass of) {
    if (is_wanted) classes = static_cast<std::uint8_t>(classes | class_bit(of));
  };
  set(wanted.read, RequestClass::kRead);
  set(wanted.write, RequestClass::kWrite);
  set(wanted.remove, RequestClass::kDelete);
  classes_.store(classes, std::memory_order_relaxed);
  retention_days_ = wanted.retention_days;
}

bool ServiceLog::write(Store& store) {
  bool has_written = false;
  // Entries that arrive meanwhile wait for the next call, so that they share its commits.
  for (std::size_t left = queue_.size() + (due_ ? 1 : 0); left > 0; --left) {
    if (!due_) due_.emplace(queue_.take());
    if (due_->entries > 0) {  // a lack of memory leaves an empty batch
      const Status written = writer_.write(store, *due_);
      if (!written.ok() && has_later_attempt(written.code())) break;
      if (!written.ok()) lose(due_->entries);
      has_written = has_written || written.ok();
    }
    queue_.done(*due_);
    due_.reset();
  }
  return has_written;
}

bool ServiceLog::delete_old(Store& store, DateTime now) {
  const std::uint64_t kept = std::uint64_t{retention_days_.value_or(0)} * kTicksOfDay;
  if (!retention_days_ || now < deletion_ || now.ticks < kept) return false;
  const DateTime oldest = interval_start(DateTime{now.ticks - kept}, MetricsInterval::kHour);
  const Result<bool> done = delete_old_logs(store, account_, service_, oldest);
  if (done.ok() && *done) deletion_ = DateTime{now.ticks + kTicksBetweenDeletions};
  return true;
}

bool ServiceLog::finish(Store& store) {
  classes_.store(0, std::memory_order_relaxed);
  const bool has_written = write(store);
  for (; due_; due_ = queue_.size() > 0 ? std::optional(queue_.take()) : std::nullopt) {
    lose(due_->entries);
    queue_.done(*due_);
  }
  return has_written;
}

}  // namespace varve::serve
