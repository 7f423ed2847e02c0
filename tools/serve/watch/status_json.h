// Owns: a server's figures as JSON for the status page.
// Must never: serve as an interface for other programs. Monitors read metrics_text.h.
#pragma once

#include <string>

#include "tools/serve/watch/observation.h"

namespace varve::serve {

/// Returns the figures. Counters count since the start. The page computes rates from two results. Latencies are counts
/// of buckets, and `latency_bounds` contains the buckets' upper bounds in seconds.
std::string status_json(const Observed& observed, bool has_explorer);

}  // namespace varve::serve
