// Owns: the metrics of all accounts of a server, from its requests to the metrics tables.
// Must never: make a request wait, or use the store on a thread that carries requests.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/service/request_facts.h"
#include "tools/serve/analytics/account_metrics.h"
#include "tools/serve/watch/request_figures.h"
#include "varve/store.h"

namespace varve::serve {

/// Counts the requests of the accounts that want metrics, and writes the rows. Source: AM-01 to AM-07.
class Analytics {
 public:
  /// The store must outlive this object.
  explicit Analytics(Store& store) noexcept : store_(store) {}
  ~Analytics() = default;
  Analytics(const Analytics&) = delete;
  Analytics& operator=(const Analytics&) = delete;

  /// Adds accounts. Those that are known stay. Any thread may call it.
  void add_accounts(const std::vector<std::string>& names);
  /// Returns the metrics of a service, or null if nothing of the account is counted. The object lives as long as this
  /// one. Takes no lock; any thread may call it.
  ServiceMetrics* counted(std::string_view account, StorageService service) const noexcept;

  /// Counts an answered request, if its account wants it. `record` has the request's duration and the bodies' sizes. Any
  /// thread may call it.
  void count(StorageService service, const RequestFacts& facts, const RequestRecord& record,
             const HttpResponse& response) const noexcept;

  // The following functions wait for the store. One thread at a time calls them.
  /// Follows the properties of all accounts, writes the rows that are due, and deletes old rows.
  void update(DateTime now);
  /// Writes the rows of the intervals that have not ended. Requests are no longer counted.
  void finish();

  /// Returns the number of rows that were lost, because the store refused them for too long.
  std::uint64_t lost_rows() const;

 private:
  static constexpr std::size_t kServices = 2;
  struct AccountMetrics {
    explicit AccountMetrics(const std::string& name)
        : services{ServiceMetrics(name, StorageService::kTables), ServiceMetrics(name, StorageService::kQueues)} {}
    std::array<ServiceMetrics, kServices> services;
  };
  /// The accounts in the order of their names. A list never changes.
  using Listed = std::vector<std::pair<std::string, AccountMetrics*>>;

  std::vector<AccountMetrics*> all() const;
  template <typename Use>
  void for_each_service(Use use) const;

  Store& store_;
  mutable std::mutex mutex_;  // guards the two lists of owners
  std::vector<std::unique_ptr<AccountMetrics>> accounts_;
  /// All lists that were ever in force, since a request may still read an earlier one.
  std::vector<std::unique_ptr<const Listed>> lists_;
  std::atomic<const Listed*> listed_{nullptr};
};

}  // namespace varve::serve
