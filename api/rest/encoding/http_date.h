// Owns: times in the format of HTTP headers.
// Must never: depend on a locale or a time zone.
#pragma once

#include <string>

#include "varve/types.h"

namespace varve::serve {

/// Returns a time such as `Tue, 03 Mar 2026 10:20:30 GMT`.
std::string http_date(DateTime time);
/// Returns the present time of the system's clock.
DateTime present_time();

}  // namespace varve::serve
