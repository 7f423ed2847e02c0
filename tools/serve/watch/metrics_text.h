// Owns: a server's figures as Prometheus reads them.
// Must never: make a label of what a client sent: names of accounts, tables and keys are no business of a monitor, and
// labels without a bound would fill it.
#pragma once

#include <string>

#include "tools/serve/watch/observation.h"
#include "varve/statistics.h"

namespace varve::serve {

/// The text format, version 0.0.4. Without the store's figures where it gives none.
std::string metrics_text(const Observed& observed);

/// Its media type.
inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace varve::serve
