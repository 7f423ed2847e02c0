// Owns: access to all figures that a server publishes.
// Must never: contain a secret, or a name that a client chose.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "tools/serve/watch/connection_figures.h"
#include "tools/serve/watch/reload_figures.h"
#include "tools/serve/watch/request_figures.h"
#include "varve/rados.h"
#include "varve/store.h"

namespace varve::serve {

/// What the server could not keep for its accounts.
struct AnalyticsFigures {
  std::uint64_t lost_rows = 0;
  std::uint64_t lost_entries = 0;
};

/// The sources of figures for the status page and the monitor. All of them must outlive both.
struct Observed {
  const Store& store;
  const RequestFigures& requests;
  std::function<ConnectionFigures()> connections;
  /// Returns the number of lines that the request log lost.
  std::function<std::uint64_t()> lost_log_lines = [] { return std::uint64_t{0}; };
  /// The figures of reloads, or null.
  const ReloadFigures* reloads = nullptr;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  /// Returns the numbers of rows of metrics and entries of logs that were lost.
  std::function<AnalyticsFigures()> analytics = [] { return AnalyticsFigures(); };
  /// Returns the figures of the connection to the cluster that has the store. Null for a store of this machine.
  std::function<Result<RadosFigures>()> cluster = nullptr;

  std::optional<RadosFigures> cluster_figures() const {
    if (!cluster) return std::nullopt;
    Result<RadosFigures> figures = cluster();
    return figures.ok() ? std::optional<RadosFigures>(*std::move(figures)) : std::nullopt;
  }
  std::chrono::duration<double> uptime() const { return std::chrono::steady_clock::now() - begun; }
};

}  // namespace varve::serve
