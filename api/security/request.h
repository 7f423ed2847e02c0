// SPDX-License-Identifier: Apache-2.0
// Owns: a request as authentication sees it, whatever carried it.
// Must never: interpret a path: what was signed is how it stood on the request line.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace varve::security {

struct Request {
  /// The real one: POST where X-HTTP-Method tunnels another (S-05).
  std::string verb;
  /// As on the request line, percent-encoding untouched, without the query.
  std::string path;
  /// As on the request line, without `?`.
  std::string query{};
  /// Names in any case of letters.
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// From where and how a request came.
struct Arrival {
  /// IPv4 in dotted decimals, perhaps written as a mapped IPv6 address (`::ffff:`). What else it is matches no address
  /// that a signature names.
  std::string client_ip{};
  bool is_https = true;
};

}  // namespace varve::security
