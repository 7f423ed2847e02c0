#include "api/rest/service/cross_origin.h"

#include <utility>

#include "api/rest/protocol/cors.h"
#include "api/rest/protocol/version_rules.h"

namespace varve::serve {

CrossOrigin::Rules CrossOrigin::find(std::string_view account) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(account);
  return found == known_.end() ? nullptr : found->second;
}

std::uint64_t CrossOrigin::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

/// Caches the rules, unless some rules changed since the read began: the read may then have returned old rules.
void CrossOrigin::enter(const std::string& account, Rules rules, std::uint64_t changes_before) {
  const std::lock_guard lock(mutex_);
  if (changes_ == changes_before) known_[account] = std::move(rules);
}

void CrossOrigin::forget(std::string_view account) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  if (const auto found = known_.find(account); found != known_.end()) known_.erase(found);
}

Task<Result<CrossOrigin::Rules>> CrossOrigin::read(std::string account, HomeThread* home, std::stop_token stop) {
  if (Rules known = find(account)) co_return known;
  const std::uint64_t changes_before = changes();
  Task<Result<ServiceProperties>> reading = AsyncStore(store_).service_properties(account, service_, std::move(stop));
  Result<ServiceProperties> properties = co_await at_home(home, std::move(reading));
  if (!properties.ok()) co_return properties.status();
  Rules rules = std::make_shared<const std::vector<CorsRule>>(std::move(properties->cors_rules));
  enter(account, rules, changes_before);
  co_return rules;
}

Task<Result<HttpResponse>> CrossOrigin::preflight(const HttpRequest& request, std::string account, HomeThread* home,
                                                  std::stop_token stop) {
  if (account.empty()) co_return answer_preflight(request.head.headers, {});
  Task<Result<Rules>> reading = read(std::move(account), home, std::move(stop));
  const Result<Rules> rules = co_await reading;
  if (!rules.ok()) co_return rules.status();
  co_return answer_preflight(request.head.headers, **rules);
}

bool CrossOrigin::concerns(const HttpRequest& request, std::string_view account, std::string_view version) const {
  const bool is_read = request.head.verb == "GET" || request.head.verb == "HEAD";
  if (account.empty() || version < since::kCors) return false;
  if (!is_read && find_header(request.head.headers, "origin") == nullptr) return false;
  const Rules known = find(account);
  return known == nullptr || !known->empty();
}

Task<Status> CrossOrigin::add_headers(const HttpRequest& request, std::string account, HomeThread* home,
                                      std::stop_token stop, HttpResponse& response) {
  Task<Result<Rules>> reading = read(std::move(account), home, std::move(stop));
  const Result<Rules> rules = co_await reading;
  if (rules.ok()) add_cors_headers(request.head, **rules, response);
  co_return rules.status();
}

}  // namespace varve::serve
