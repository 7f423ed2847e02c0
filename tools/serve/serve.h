// Owns: running `varve serve` from its parsed options to its end: the store, the accounts, the server.
// Must never: parse a command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/serve/server.h"
#include "varve/result.h"

namespace varve::serve {

struct ServeOptions {
  /// The directory of the store. Created if it does not exist.
  std::string data;
  /// The address as `ADDRESS:PORT`. An IPv6 address is written in brackets.
  std::string listen = "127.0.0.1:10002";
  /// Accounts, each as `NAME:KEY`, `NAME:KEY:KEY2`, or `NAME:@FILE`. The file contains KEY or KEY:KEY2.
  std::vector<std::string> accounts{};
  std::string tls_certificate{};
  std::string tls_key{};
  /// The `ADDRESS:PORT` of the metrics. Empty: no metrics.
  std::string metrics{};
  /// `auto`, `off`, `figures` or `explore`.
  std::string status_page = "auto";
  /// `off`, `failures` or `all`.
  std::string request_log = "off";
  /// The memory of the server in the format of parse_size(). Empty: the limit that memory_limit() returns.
  std::string memory{};
};

/// The addresses of a running server.
struct ServedPlaces {
  std::string url;
  /// The status page's URL. Empty if there is none. The metrics port is then 0 if there are no metrics.
  std::string status_page{};
  std::uint16_t metrics_port = 0;
};

/// Parses the address to listen on. Errors: kInvalidArgument (not ADDRESS:PORT).
Status parse_listen(const std::string& text, ListenOptions& options);

/// Serves until SIGTERM or SIGINT, and closes the store. Calls `on_ready` when the server accepts requests. From the
/// first step until the process ends, signals have the effects described at StopSignals.
/// Errors: those of StopSignals::begin(), Store::open(), Server::start() and Store::close(); kInvalidArgument for
/// invalid options.
Status serve_until_signal(const ServeOptions& options, const std::function<void(const ServedPlaces& places)>& on_ready);

}  // namespace varve::serve
