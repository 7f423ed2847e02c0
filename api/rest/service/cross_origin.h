// Owns: a cache of the accounts' CORS rules, so that most requests do not read them from the store.
// Must never: return outdated rules to a request that arrived after a change of the rules was answered.
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

/// Can be used by any thread. Code that writes service properties of this store calls forget() before it answers.
class CrossOrigin {
 public:
  /// The rules of one service. The store must outlive this object.
  CrossOrigin(Store& store, StorageService service) noexcept : store_(store), service_(service) {}

  /// Returns the answer to an OPTIONS request. `account` is an account that the server knows, or empty: an empty
  /// account has no rules. Errors: those of answer_preflight(), and those of reading the rules. Source: P-12.
  Task<Result<HttpResponse>> preflight(const HttpRequest& request, std::string account, HomeThread* home,
                                       std::stop_token stop);

  /// Returns whether add_headers() may have something to add, as far as the cache can say without reading.
  bool concerns(const HttpRequest& request, std::string_view account, std::string_view version) const;
  /// Adds the headers that the account's rules require. After an error nothing was added, and the caller sends the
  /// answer unchanged (P-13).
  Task<Status> add_headers(const HttpRequest& request, std::string account, HomeThread* home, std::stop_token stop,
                           HttpResponse& response);

  /// Discards the cached rules of the account, because they may have changed.
  void forget(std::string_view account);

 private:
  using Rules = std::shared_ptr<const std::vector<CorsRule>>;
  Rules find(std::string_view account) const;
  std::uint64_t changes() const;
  void enter(const std::string& account, Rules rules, std::uint64_t changes_before);
  Task<Result<Rules>> read(std::string account, HomeThread* home, std::stop_token stop);

  Store& store_;
  const StorageService service_;
  mutable std::mutex mutex_;
  std::map<std::string, Rules, std::less<>> known_;
  std::uint64_t changes_ = 0;
};

}  // namespace varve::serve
