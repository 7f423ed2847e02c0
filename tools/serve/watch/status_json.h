// Owns: a server's figures as the status page reads them.
// Must never: be anybody's interface but that page's; monitors read metrics_text.h.
#pragma once

#include <string>

#include "tools/serve/watch/observation.h"

namespace varve::serve {

/// Counters are since the start; the page makes rates of two of these. Latencies are counts of buckets, as
/// `latency_bounds` has their upper bounds in seconds.
std::string status_json(const Observed& observed, bool has_explorer);

}  // namespace varve::serve
