// Owns: `varve serve` from its words to its end: the store, the accounts, the server.
// Must never: parse a command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/serve/server.h"
#include "varve/result.h"

namespace varve::serve {

struct ServeOptions {
  /// Directory of the store; made if it is absent.
  std::string data;
  /// `ADDRESS:PORT`; an IPv6 address stands in brackets.
  std::string listen = "127.0.0.1:10002";
  /// Each `NAME:KEY`, `NAME:KEY:KEY2`, or `NAME:@FILE` with a file that holds KEY or KEY:KEY2.
  std::vector<std::string> accounts{};
  std::string tls_certificate{};
  std::string tls_key{};
  /// `ADDRESS:PORT` of the metrics; empty: none.
  std::string metrics{};
  /// `auto`, `off`, `figures` or `explore`.
  std::string status_page = "auto";
  /// `off`, `failures` or `all`.
  std::string request_log = "off";
  /// How much memory the server may take, as parse_size() has it; empty: what memory_limit() leaves.
  std::string memory{};
};

/// Where a server can be reached.
struct ServedPlaces {
  std::string url;
  /// Empty where there is none, as the next one.
  std::string status_page{};
  std::uint16_t metrics_port = 0;
};

/// Errors: kInvalidArgument (not ADDRESS:PORT).
Status parse_listen(const std::string& text, ListenOptions& options);

/// Serves until SIGTERM or SIGINT, and closes the store. `on_ready` is called once requests are taken. From the first
/// step on, and until the process is gone, signals do what StopSignals says.
/// Errors: those of StopSignals::begin(), Store::open(), Server::start(), Store::close(); kInvalidArgument, for what
/// the options say.
Status serve_until_signal(const ServeOptions& options, const std::function<void(const ServedPlaces& places)>& on_ready);

}  // namespace varve::serve
