// Owns: `varve serve` from its words to its end: the store, the accounts, the server.
// Must never: parse a command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/result.h"
#include "tools/serve/server.h"

namespace varve::serve {

struct ServeOptions {
  /// Directory of the store; made if it is absent.
  std::string data;
  /// `ADDRESS:PORT`; an IPv6 address stands in brackets.
  std::string listen = "127.0.0.1:10002";
  /// Each `NAME:KEY` or `NAME:KEY:KEY2`.
  std::vector<std::string> accounts{};
  std::string tls_certificate{};
  std::string tls_key{};
};

/// Errors: kInvalidArgument (not ADDRESS:PORT).
Status parse_listen(const std::string& text, ListenOptions& options);

/// Serves until SIGTERM or SIGINT, and closes the store. `on_ready` is told the URL once requests are taken.
/// Errors: those of Store::open(), Server::start(), Store::close().
Status serve_until_signal(const ServeOptions& options, const std::function<void(const std::string& url)>& on_ready);

}  // namespace varve::serve
