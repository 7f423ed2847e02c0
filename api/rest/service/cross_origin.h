// Owns: the CORS rules of accounts as they were last read, so that not every request reads them from the store.
// Must never: give rules of before a change to a request that came after the change was answered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/protocol/message.h"
#include "varve/async.h"
#include "varve/home_thread.h"
#include "varve/result.h"

namespace varve::serve {

/// Any thread. Nobody else writes service properties of this store.
class CrossOrigin {
 public:
  /// The store outlives this.
  explicit CrossOrigin(Store& store) noexcept : store_(store) {}

  /// The answer to an OPTIONS. `account` is one that the server knows, or empty: it has no rules then.
  /// Errors: as answer_preflight(), and those of reading the rules. Source: P-12.
  Task<Result<HttpResponse>> preflight(const HttpRequest& request, std::string account, HomeThread* home,
                                       std::stop_token stop);

  /// Whether add_headers() has anything to do, as far as that is known without reading.
  bool concerns(const HttpRequest& request, std::string_view account, std::string_view version) const;
  /// Adds what the rules of the account say. After an error nothing was added, and the answer goes out as it is (P-13).
  Task<Status> add_headers(const HttpRequest& request, std::string account, HomeThread* home, std::stop_token stop,
                           HttpResponse& response);

  /// The rules of the account may be others now.
  void forget(std::string_view account);

 private:
  using Rules = std::shared_ptr<const std::vector<CorsRule>>;
  Rules find(std::string_view account) const;
  std::uint64_t changes() const;
  void enter(const std::string& account, Rules rules, std::uint64_t changes_before);
  Task<Result<Rules>> read(std::string account, HomeThread* home, std::stop_token stop);

  Store& store_;
  mutable std::mutex mutex_;
  std::map<std::string, Rules, std::less<>> known_;
  std::uint64_t changes_ = 0;
};

}  // namespace varve::serve
