// Owns: the log of one service of one account: whether it is on, the waiting entries, and the writes that are due.
// Must never: be called by two threads at once, except for add(), is_on() and lost_entries().
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/serve/analytics/log_entry.h"
#include "tools/serve/analytics/log_queue.h"
#include "tools/serve/analytics/log_store.h"
#include "varve/service_properties.h"

namespace varve::serve {

class ServiceLog {
 public:
  /// `room` must outlive this object.
  ServiceLog(std::string account, StorageService service, LogRoom& room);

  /// Returns whether requests of any class are logged now.
  bool is_on() const noexcept { return classes_.load(std::memory_order_relaxed) != 0; }
  /// Adds the entry of a request, if the account wants it. Returns whether the writer should run soon.
  bool add(const LoggedExchange& exchange) noexcept;

  /// Follows the account's settings.
  void follow(const LoggingProperties& wanted);
  /// Writes the waiting entries. Failures are repeated by the next call. Returns whether anything was written.
  bool write(Store& store);
  /// Deletes logs that are older than the retention. Returns as write().
  bool delete_old(Store& store, DateTime now);
  /// Requests are no longer logged. Writes the waiting entries, and gives up those that the store refuses.
  bool finish(Store& store);

  /// Returns the number of entries that were dropped, because the queue was full or the store refused them.
  std::uint64_t lost_entries() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  void lose(std::uint64_t entries) noexcept { lost_.fetch_add(entries, std::memory_order_relaxed); }

  const std::string account_;
  const StorageService service_;
  /// A bit for each RequestClass that is logged.
  std::atomic<std::uint8_t> classes_{0};
  std::atomic<std::uint64_t> lost_{0};
  LogQueue queue_;
  LogWriter writer_;
  /// The batch that the store refused last.
  std::optional<LogBatch> due_{};
  std::optional<std::uint32_t> retention_days_{};
  /// The time from which old logs are deleted next.
  DateTime deletion_{};
};

}  // namespace varve::serve
