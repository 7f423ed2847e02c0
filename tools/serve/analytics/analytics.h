// Owns: the metrics and the logs of all accounts of a server, from its requests to the metrics tables and `$logs`.
// Must never: make a request wait, or use the store on a thread that carries requests.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/encoding/present_time.h"
#include "api/rest/service/request_facts.h"
#include "tools/serve/analytics/account_metrics.h"
#include "tools/serve/analytics/blob_capacity.h"
#include "tools/serve/analytics/log_queue.h"
#include "tools/serve/analytics/service_log.h"
#include "tools/serve/watch/request_figures.h"
#include "varve/store.h"

namespace varve::serve {

/// Counts the requests of the accounts that want metrics, and writes the rows. Logs the requests of the accounts that want
/// logs. Source: AM-01 to AM-07, AL-01 to AL-08.
class Analytics {
 public:
  /// The store must outlive this object. `clock` has the present time, for any thread.
  explicit Analytics(Store& store, std::function<DateTime()> clock = present_time)
      : store_(store), clock_(std::move(clock)) {}
  ~Analytics() = default;
  Analytics(const Analytics&) = delete;
  Analytics& operator=(const Analytics&) = delete;

  /// Adds accounts. Those that are known stay. Any thread may call it.
  void add_accounts(const std::vector<std::string>& names);
  /// Returns the metrics of a service, or null if nothing of the account is counted. The object lives as long as this
  /// one. Takes no lock; any thread may call it.
  ServiceMetrics* counted(std::string_view account, StorageService service) const noexcept;

  /// Counts and logs an answered request, if its account wants it. `record` has the request's duration and the bodies'
  /// sizes. `number` is the place of a request in its batch. Returns whether write() should run soon. Any thread may call
  /// it.
  bool count(StorageService service, const RequestFacts& facts, const RequestRecord& record,
             const HttpResponse& response, std::uint64_t number = 0) const noexcept;

  // The following functions wait for the store. One thread at a time calls them.
  /// Follows the properties of all accounts, writes the rows that are due, deletes old rows and logs, and calls write().
  void update(DateTime now);
  /// Writes the waiting entries of logs, and goes on with counts of capacity.
  void write(DateTime now);
  /// Writes the rows of the intervals that have not ended, and all entries of logs. Requests are no longer counted.
  void finish();
  /// Returns whether write() has to run every few seconds.
  bool is_writing() const noexcept;

  // Any thread may call these.
  /// Returns the number of rows that were lost, because the store refused them for too long.
  std::uint64_t lost_rows() const;
  /// Returns the number of entries of logs that were dropped.
  std::uint64_t lost_entries() const;

 private:
  static constexpr std::size_t kServices = 3;
  /// The memory for waiting entries of logs.
  static constexpr std::size_t kLogRoomBytes = std::size_t{16} << 20;
  struct ServiceAnalytics {
    ServiceAnalytics(const std::string& name, StorageService of, LogRoom& room)
        : service(of), metrics(name, of), log(name, of, room) {}
    const StorageService service;
    ServiceMetrics metrics;
    ServiceLog log;
  };
  struct AccountAnalytics {
    AccountAnalytics(const std::string& named, LogRoom& room)
        : name(named),
          services{ServiceAnalytics(name, StorageService::kTables, room),
                   ServiceAnalytics(name, StorageService::kQueues, room),
                   ServiceAnalytics(name, StorageService::kBlobs, room)},
          capacity(name) {}
    const std::string name;
    std::array<ServiceAnalytics, kServices> services;
    CapacityCount capacity;
    /// What the account wants of hourly metrics of blobs. Used by the thread of update().
    MetricsProperties capacity_wanted{};
  };
  /// The accounts in the order of their names. A list never changes.
  using Listed = std::vector<std::pair<std::string, AccountAnalytics*>>;

  ServiceAnalytics* find(std::string_view account, StorageService service) const noexcept;
  std::vector<AccountAnalytics*> all() const;
  template <typename Use>
  void for_each_service(Use use) const;
  /// Returns whether anything was written.
  bool follow(AccountAnalytics& account, DateTime now);
  bool write_waiting(DateTime now);
  void sync_if(bool has_written);

  Store& store_;
  const std::function<DateTime()> clock_;
  LogRoom log_room_{kLogRoomBytes};
  mutable std::mutex mutex_;  // guards the two lists of owners
  std::vector<std::unique_ptr<AccountAnalytics>> accounts_;
  /// All lists that were ever in force, since a request may still read an earlier one.
  std::vector<std::unique_ptr<const Listed>> lists_;
  std::atomic<const Listed*> listed_{nullptr};
};

}  // namespace varve::serve
