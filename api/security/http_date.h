// Owns: dates of HTTP headers.
// Must never: accept a date in a form other than that of RFC 1123, or depend on a locale or a time zone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "varve/types.h"

namespace varve::security {

/// Returns a time such as `Tue, 03 Mar 2026 10:20:30 GMT`.
std::string http_date(DateTime time);
/// Parses a date such as `Tue, 03 Mar 2026 10:20:30 GMT`. Returns nothing if the form is another one, no such time
/// exists, or the date is not on that day of the week.
std::optional<DateTime> parse_http_date(std::string_view text);

}  // namespace varve::security
