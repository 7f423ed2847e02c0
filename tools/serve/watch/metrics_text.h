// Owns: a server's figures in the format of Prometheus.
// Must never: use a client's text as a label. Names of accounts, tables and keys do not belong in a monitor, and
// unbounded labels would fill it.
#pragma once

#include <string>

#include "tools/serve/watch/observation.h"
#include "varve/statistics.h"

namespace varve::serve {

/// Returns the metrics in text format version 0.0.4. If the store returns no statistics, its figures are left out.
std::string metrics_text(const Observed& observed);

/// Returns the metrics of a process that waits for its store.
std::string standby_metrics_text();

/// The media type of the format.
inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace varve::serve
