// Owns: dates of HTTP headers.
// Must never: accept a date in another form than RFC 1123's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "varve/types.h"

namespace varve::security {

/// `Tue, 03 Mar 2026 10:20:30 GMT`; which day of the week it says is not compared with the date.
std::optional<DateTime> parse_http_date(std::string_view text);

}  // namespace varve::security
