// Owns: requests of the present time as bytes, with and without a signature. The server uses the machine's clock.
// Must never: send the bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/rest/encoding/present_time.h"
#include "api/security/http_date.h"
#include "tests/serve/service_bench.h"
#include "tests/serve/socket/http_client.h"

namespace varve::serve::test {

inline HttpRequest unsigned_request(std::string_view verb, std::string_view resource, std::string body = {},
                                    Headers headers = {}) {
  HttpRequest request;
  request.head.verb = verb;
  EXPECT_TRUE(set_target(request, ServiceBench::path_of(resource)));
  request.head.headers = std::move(headers);
  request.head.headers.emplace_back("Host", "127.0.0.1");
  request.head.headers.emplace_back("x-ms-date", security::http_date(present_time()));
  request.body = std::move(body);
  return request;
}

/// Returns a request with an Authorization header signed with the account's key.
inline std::string signed_bytes(std::string_view verb, std::string_view resource, std::string body = {},
                                Headers headers = {}) {
  HttpRequest request = unsigned_request(verb, resource, std::move(body), std::move(headers));
  request.head.headers.emplace_back(
      "Authorization",
      *security::shared_key_authorization(security::SharedKeyScheme::kSharedKeyLite, request.head, credentials()));
  return to_bytes(request);
}

}  // namespace varve::serve::test
