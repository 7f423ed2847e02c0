// Owns: the list of accounts whose requests are counted (analytics.h).
// Must never: free a list that a request may read.
#include "tools/serve/analytics/analytics.h"

#include <algorithm>

#include "tools/serve/analytics/request_sizes.h"

namespace varve::serve {

void Analytics::add_accounts(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  auto listed = std::make_unique<Listed>();
  if (const Listed* const present = listed_.load(std::memory_order_acquire); present != nullptr) *listed = *present;
  const std::size_t known = listed->size();
  for (const std::string& name : names) {
    const auto end = listed->begin() + static_cast<std::ptrdiff_t>(known);
    const bool is_known = std::any_of(listed->begin(), end, [&](const auto& account) { return account.first == name; });
    if (is_known) continue;
    accounts_.push_back(std::make_unique<AccountMetrics>(name));
    listed->emplace_back(name, accounts_.back().get());
  }
  if (listed->size() == known) return;
  std::sort(listed->begin(), listed->end());
  lists_.push_back(std::move(listed));
  listed_.store(lists_.back().get(), std::memory_order_release);
}

ServiceMetrics* Analytics::counted(std::string_view account, StorageService service) const noexcept {
  const Listed* const listed = listed_.load(std::memory_order_acquire);
  const auto index = static_cast<std::size_t>(service);
  if (listed == nullptr || index >= kServices) return nullptr;
  const auto found =
      std::lower_bound(listed->begin(), listed->end(), account,
                       [](const Listed::value_type& known, std::string_view sought) { return known.first < sought; });
  if (found == listed->end() || found->first != account) return nullptr;
  ServiceMetrics& metrics = found->second->services[index];
  return metrics.is_counting() ? &metrics : nullptr;
}

void Analytics::count(StorageService service, const RequestFacts& facts, const RequestRecord& record,
                      const HttpResponse& response) const noexcept {
  if (facts.account.empty()) return;
  ServiceMetrics* const metrics = counted(facts.account, service);
  if (metrics == nullptr) return;
  const HttpRequest& request = facts.request;
  const bool has_condition = find_header(request.head.headers, "if-match") != nullptr;
  CountedRequest counted;
  counted.type = operation_type(facts.named, service, has_condition);
  counted.caller = caller_of(request);
  counted.outcome = outcome_of(request, response);
  counted.bytes_in = header_bytes(request) + record.bytes_in;
  counted.bytes_out = header_bytes(response) + record.bytes_out;
  counted.server = record.duration;
  counted.end_to_end = record.end_to_end;
  metrics->count(counted);
}

std::vector<Analytics::AccountMetrics*> Analytics::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<AccountMetrics*> all;
  all.reserve(accounts_.size());
  for (const std::unique_ptr<AccountMetrics>& account : accounts_) all.push_back(account.get());
  return all;
}

template <typename Use>
void Analytics::for_each_service(Use use) const {
  for (AccountMetrics* const account : all()) {
    for (ServiceMetrics& service : account->services) use(service);
  }
}

void Analytics::update(DateTime now) {
  bool has_written = false;
  for_each_service([&](ServiceMetrics& service) { has_written = service.update(store_, now) || has_written; });
  // The rows of an interval that has ended survive every crash. One sync serves all accounts.
  if (has_written) (void)store_.sync();
}

void Analytics::finish() {
  bool has_written = false;
  for_each_service([&](ServiceMetrics& service) { has_written = service.finish(store_) || has_written; });
  if (has_written) (void)store_.sync();
}

std::uint64_t Analytics::lost_rows() const {
  std::uint64_t lost = 0;
  for_each_service([&](const ServiceMetrics& service) { lost += service.lost_rows(); });
  return lost;
}

}  // namespace varve::serve
