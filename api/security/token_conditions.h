// Owns: what table and account signatures say alike: version, time, address, protocol.
// Must never: take a text for another condition than it was signed as.
#pragma once

#include <optional>
#include <string_view>

#include "varve/result.h"
#include "varve/security/request.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve::security {

inline constexpr std::string_view kVersionDefault = "2020-12-06";

// Errors of all: kForbidden (AuthenticationFailed), besides those named.

/// `YYYY-MM-DD`, at least `oldest`. (S-13, S-14)
Status check_version(std::string_view version, std::string_view oldest);
/// Nothing where the text is empty. (S-11)
Result<std::optional<DateTime>> parse_time(std::string_view text);
/// True if only HTTPS will do. (S-12)
Result<bool> parse_protocols(std::string_view text);
/// One IPv4 address, a range, or nothing. (S-12)
Status check_addresses(std::string_view text);

/// Whether `now` is in [start, expiry). (S-11)
Status check_window(const std::optional<DateTime>& start, const std::optional<DateTime>& expiry, DateTime now);
/// Errors: kForbidden (AuthorizationSourceIPMismatch, AuthorizationProtocolMismatch). (S-12)
Status check_arrival(std::string_view addresses, bool https_only, const Arrival& arrival);

}  // namespace varve::security
