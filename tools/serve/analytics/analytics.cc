// Owns: the list of accounts whose requests are counted (analytics.h).
// Must never: free a list that a request may read.
#include "tools/serve/analytics/analytics.h"

#include <algorithm>

#include "tools/serve/analytics/request_sizes.h"

namespace varve::serve {
namespace {

constexpr std::uint64_t kTickNanoseconds = 100;

}  // namespace

void Analytics::add_accounts(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  auto listed = std::make_unique<Listed>();
  if (const Listed* const present = listed_.load(std::memory_order_acquire); present != nullptr) *listed = *present;
  const std::size_t known = listed->size();
  for (const std::string& name : names) {
    const auto end = listed->begin() + static_cast<std::ptrdiff_t>(known);
    const bool is_known = std::any_of(listed->begin(), end, [&](const auto& account) { return account.first == name; });
    if (is_known) continue;
    accounts_.push_back(std::make_unique<AccountAnalytics>(name, log_room_));
    listed->emplace_back(name, accounts_.back().get());
  }
  if (listed->size() == known) return;
  std::sort(listed->begin(), listed->end());
  lists_.push_back(std::move(listed));
  listed_.store(lists_.back().get(), std::memory_order_release);
}

Analytics::ServiceAnalytics* Analytics::find(std::string_view account, StorageService service) const noexcept {
  const Listed* const listed = listed_.load(std::memory_order_acquire);
  if (listed == nullptr) return nullptr;
  const auto found =
      std::lower_bound(listed->begin(), listed->end(), account,
                       [](const Listed::value_type& known, std::string_view sought) { return known.first < sought; });
  if (found == listed->end() || found->first != account) return nullptr;
  return &found->second->services[static_cast<std::size_t>(service)];
}

ServiceMetrics* Analytics::counted(std::string_view account, StorageService service) const noexcept {
  ServiceAnalytics* const found = find(account, service);
  return found != nullptr && found->metrics.is_counting() ? &found->metrics : nullptr;
}

bool Analytics::count(StorageService service, const RequestFacts& facts, const RequestRecord& record,
                      const HttpResponse& response, std::uint64_t number) const noexcept {
  if (facts.account.empty()) return false;
  ServiceAnalytics* const found = find(facts.account, service);
  if (found == nullptr) return false;
  const HttpRequest& request = facts.request;
  if (found->metrics.is_counting()) {
    CountedRequest counted;
    counted.type = operation_type(facts.named, service, request.head.headers);
    counted.caller = caller_of(request);
    counted.outcome = outcome_of(request, response);
    counted.bytes_in = header_bytes(request) + record.bytes_in;
    counted.bytes_out = header_bytes(response) + record.bytes_out;
    counted.server = record.duration;
    counted.end_to_end = record.end_to_end;
    found->metrics.count(counted);
  }
  if (!found->log.is_on()) return false;
  const auto taken =
      static_cast<std::uint64_t>(std::max<std::int64_t>(record.end_to_end.count(), 0)) / kTickNanoseconds;
  const DateTime now = clock_();
  return found->log.add({DateTime{now.ticks - std::min(now.ticks, taken)}, service, facts, record, response, number});
}

std::vector<Analytics::AccountAnalytics*> Analytics::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<AccountAnalytics*> all;
  all.reserve(accounts_.size());
  for (const std::unique_ptr<AccountAnalytics>& account : accounts_) all.push_back(account.get());
  return all;
}

template <typename Use>
void Analytics::for_each_service(Use use) const {
  for (AccountAnalytics* const account : all()) {
    for (ServiceAnalytics& service : account->services) use(service);
  }
}

/// The rows of an interval that has ended survive every crash. One sync serves all accounts.
void Analytics::sync_if(bool has_written) {
  if (has_written) (void)store_.sync();
}

bool Analytics::follow(AccountAnalytics& account, DateTime now) {
  bool has_written = false;
  for (ServiceAnalytics& service : account.services) {
    Result<ServiceProperties> wanted = store_.service_properties(account.name, service.service);
    if (wanted.code() == Code::kNotFound) wanted = ServiceProperties();  // the account was dropped
    if (!wanted.ok()) continue;
    has_written = service.metrics.update(store_, *wanted, now) || has_written;
    service.log.follow(wanted->logging);
    has_written = service.log.delete_old(store_, now) || has_written;
    if (service.service == StorageService::kBlobs) account.capacity_wanted = wanted->hour_metrics;
  }
  return has_written;
}

bool Analytics::write_waiting(DateTime now) {
  bool has_written = false;
  for (AccountAnalytics* const account : all()) {
    for (ServiceAnalytics& service : account->services) (void)service.log.write(store_);
    has_written = account->capacity.update(store_, account->capacity_wanted, now) || has_written;
  }
  return has_written;
}

void Analytics::update(DateTime now) {
  bool has_written = false;
  for (AccountAnalytics* const account : all()) has_written = follow(*account, now) || has_written;
  sync_if(write_waiting(now) || has_written);
}

void Analytics::write(DateTime now) {
  sync_if(write_waiting(now));
}

void Analytics::finish() {
  bool has_written = false;
  for_each_service([&](ServiceAnalytics& service) {
    has_written = service.metrics.finish(store_) || has_written;
    has_written = service.log.finish(store_) || has_written;
  });
  sync_if(has_written);
}

bool Analytics::is_writing() const noexcept {
  const std::lock_guard lock(mutex_);
  return std::any_of(accounts_.begin(), accounts_.end(), [](const std::unique_ptr<AccountAnalytics>& account) {
    const auto is_on = [](const ServiceAnalytics& service) { return service.log.is_on(); };
    return account->capacity.is_counting() || std::any_of(account->services.begin(), account->services.end(), is_on);
  });
}

std::uint64_t Analytics::lost_rows() const {
  std::uint64_t lost = 0;
  for_each_service([&](const ServiceAnalytics& service) { lost += service.metrics.lost_rows(); });
  return lost;
}

std::uint64_t Analytics::lost_entries() const {
  std::uint64_t lost = 0;
  for_each_service([&](const ServiceAnalytics& service) { lost += service.log.lost_entries(); });
  return lost;
}

}  // namespace varve::serve
