// Owns: running `varve serve` from its settings to its end: the store, the accounts, the server.
// Must never: parse a command line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/serve/settings/load_settings.h"
#include "varve/status.h"

namespace varve::serve {

/// The addresses of a running server.
struct ServedPlaces {
  std::string url;
  /// The URL of the queue service. Empty if there is none.
  std::string queues_url{};
  /// The URL of the blob service. Empty if there is none.
  std::string blobs_url{};
  /// The status page's URL. Empty if there is none. The metrics port is then 0 if there are no metrics.
  std::string status_page{};
  std::uint16_t metrics_port = 0;
};

/// Serves until SIGTERM or SIGINT, and closes the store. Calls `on_ready` when the server accepts requests. From the
/// first step until the process ends, signals have the effects described at StopSignals. SIGHUP reads `sources` again.
/// The service manager that the environment names gets the messages of ServiceManager.
/// Lines of the log may still be on their way then: finish_log() waits for them.
/// Errors: those of StopSignals::begin(), load_settings(), check_complete(), Store::open(), Server::start() and
/// Store::close(); kInvalidArgument for invalid options.
/// If another process owns a store that processes share, calls `on_standby` with the port of the metrics, or zero, and
/// waits. Then /health and /metrics alone are served. A process that loses such a store ends with kFenced.
Status serve_until_signal(const SettingSources& sources,
                          const std::function<void(const ServedPlaces& places)>& on_ready,
                          const std::function<void(std::uint16_t metrics_port)>& on_standby);

}  // namespace varve::serve
