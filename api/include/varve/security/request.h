// SPDX-License-Identifier: Apache-2.0
// Owns: a request as authentication sees it, independent of how it arrived.
// Must never: interpret a path. The client signed the path as it is in the request line.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace varve::security {

/// The parts of an HTTP request that a signature covers.
struct Request {
  /// The method of the request line. If X-HTTP-Method tunnels another method through POST, this is POST (S-05).
  std::string verb;
  /// As in the request line, still percent-encoded, without the query.
  std::string path;
  /// As in the request line, without the `?`.
  std::string query{};
  /// Names in any case.
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// How a request arrived: the client's address, and the protocol.
struct Arrival {
  /// The client's IPv4 address in dotted decimals. The prefix `"::ffff:"` of a mapped IPv6 address may precede it. Any
  /// other text matches no address of a signature.
  std::string client_ip{};
  /// True if the request arrived over HTTPS.
  bool is_https = true;
};

}  // namespace varve::security
