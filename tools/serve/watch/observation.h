// Owns: all that a server tells of itself at one moment, and where it is asked for.
// Must never: hold anything secret, or a name that a client chose.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "tools/serve/watch/connection_figures.h"
#include "tools/serve/watch/request_figures.h"
#include "varve/store.h"

namespace varve::serve {

/// What can be asked by those who show it. Everything here outlives them.
struct Observed {
  const Store& store;
  const RequestFigures& requests;
  std::function<ConnectionFigures()> connections;
  /// Lines that the request log had no room for.
  std::function<std::uint64_t()> lost_log_lines = [] { return std::uint64_t{0}; };
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  std::chrono::duration<double> uptime() const { return std::chrono::steady_clock::now() - begun; }
};

}  // namespace varve::serve
