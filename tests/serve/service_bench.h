// Owns: the environment of a service test: a store in memory, a dispatcher, an account, and short functions for
// requests.
// Must never: check results. The tests check them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/model/percent.h"
#include "api/rest/service/table_dispatcher.h"
#include "tests/security/security_bench.h"

namespace varve::serve::test {

using namespace varve::test;

inline Accounts accounts() {
  Result<Accounts> made = Accounts::create();
  EXPECT_TRUE(made.ok() && made->add(std::string(kAccount) + ":" + std::string(kKeyText)).ok());
  return *std::move(made);
}

/// A service at http://127.0.0.1:10002/, in path style, with one table, Orders. Its clock does not advance.
class ServiceBench {
 public:
  explicit ServiceBench(const ResourceOptions& resources = {})
      : orders(opened(resources).table()),
        dispatcher(
            *bench.store, std::make_shared<Keyring>(accounts()), [] { return kPresent; },
            [this](std::string_view, const Status& status) { failures.push_back(status); }) {}

  /// Returns the path and query of a resource of the account.
  static std::string path_of(std::string_view resource) {
    return "/" + std::string(kAccount) + "/" + std::string(resource);
  }
  static HttpRequest request(std::string_view verb, std::string_view target, std::string body = {},
                             Headers headers = {}) {
    HttpRequest made;
    made.head.verb = verb;
    EXPECT_TRUE(set_target(made, target));
    made.head.headers = std::move(headers);
    made.head.headers.emplace_back("Host", "127.0.0.1:10002");
    made.head.headers.emplace_back("x-ms-date", kDateText);
    made.body = std::move(body);
    return made;
  }
  /// Returns a request with an Authorization header signed with the account's key.
  HttpRequest signed_request(std::string_view verb, std::string_view resource, std::string body = {},
                             Headers headers = {}) {
    HttpRequest made = request(verb, path_of(resource), std::move(body), std::move(headers));
    made.head.headers.emplace_back(
        "Authorization",
        *security::shared_key_authorization(security::SharedKeyScheme::kSharedKeyLite, made.head, credentials()));
    return made;
  }
  HttpResponse send(HttpRequest made) { return *wait(dispatcher.handle(std::move(made))); }
  HttpResponse send(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return send(signed_request(verb, resource, std::move(body), std::move(headers)));
  }
  /// Sends a request with a SAS in the query instead of a key.
  HttpResponse send_by(const std::string& token, std::string_view verb, std::string_view resource,
                       std::string body = {}, Headers headers = {}) {
    const std::string mark = resource.find('?') == std::string_view::npos ? "?" : "&";
    return send(request(verb, path_of(resource) + mark + token, std::move(body), std::move(headers)));
  }

  /// Opens the store with resources of its own.
  StoreBench& opened(const ResourceOptions& resources) {
    StoreOptions options = bench.options();
    options.resources = *Resources::create(resources);
    bench.open(options);
    return bench;
  }

  StoreBench bench;
  Table orders;
  std::vector<Status> failures;
  TableDispatcher dispatcher;
};

/// Returns a text encoded as a query parameter's value.
inline std::string encoded(std::string_view text) {
  return percent_encode(text);
}

/// Returns "404 TableNotFound", or "204" if there is no error.
inline std::string outcome(const HttpResponse& response) {
  const std::string* const code = find_header(response.headers, "x-ms-error-code");
  return std::to_string(response.status) + (code == nullptr ? std::string() : " " + *code);
}

inline std::string header(const HttpResponse& response, std::string_view name) {
  const std::string* const value = find_header(response.headers, name);
  return value == nullptr ? std::string() : *value;
}

}  // namespace varve::serve::test
