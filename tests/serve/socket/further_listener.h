// Owns: a running server with a listener beside that of tables, and requests that are signed for the listener's service.
// Must never: know a verb of a service. The tests do.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"
#include "tests/serve/socket/http_client.h"
#include "tests/serve/socket/signed_bytes.h"
#include "tools/serve/server.h"

namespace varve::serve::test {

/// Returns a request that is signed with the account's key for the service.
inline std::string service_bytes(StorageService service, std::string_view verb, std::string_view resource,
                                 std::string body, const security::AccountCredentials& account, Headers headers = {}) {
  headers.emplace_back("x-ms-version", "2021-12-02");
  if (!body.empty()) headers.emplace_back("Content-Length", std::to_string(body.size()));
  HttpRequest request = unsigned_request(verb, resource, std::move(body), std::move(headers));
  request.head.headers.emplace_back(
      "Authorization", *security::shared_key_authorization(security::SharedKeyScheme::kSharedKey, request.head, account,
                                                           security::KeyChoice::kPrimary, service));
  std::erase_if(request.head.headers, [](const auto& header) { return header.first == "Content-Length"; });
  return to_bytes(request);  // adds the length
}

/// The test adds the further listener to `listening_` before serve().
class ServerWithAFurtherListener : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.open();
    listening_.port = 0;
    listening_.threads = 2;
    listening_.metrics = FurtherAddress();
  }
  Server& serve(Accounts chosen = accounts()) {
    Result<std::unique_ptr<Server>> started = Server::start(*bench_.store, std::move(chosen), listening_);
    EXPECT_TRUE(started.ok()) << started.status().to_string();
    if (!started.ok()) std::abort();
    server_ = *std::move(started);
    return *server_;
  }
  static std::uint16_t port_in(const std::string& url) {
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  static std::string told(std::uint16_t port, const std::string& bytes) {
    HttpClient client(port);
    EXPECT_TRUE(client.send(bytes));
    const std::optional<HttpResponse> response = client.read();
    return response ? outcome(*response) : "closed";
  }

  StoreBench bench_;
  ListenOptions listening_;
  std::unique_ptr<Server> server_;  // ends before the store
};

}  // namespace varve::serve::test
