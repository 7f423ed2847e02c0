// Owns: the fields that signatures share: version, time, address, protocol, and the terms that a policy may set.
// Must never: take a text for a condition other than the signed one.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "varve/access_policy.h"
#include "varve/result.h"
#include "varve/security/request.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve::security {

// Errors of all functions: kForbidden (AuthenticationFailed), besides those named.

/// Checks for `YYYY-MM-DD`, not before `oldest`. (S-13, S-14)
Status check_version(std::string_view version, std::string_view oldest);
/// Returns the time, or nothing if the text is empty. (S-11)
Result<std::optional<DateTime>> parse_time(std::string_view text);
/// Returns true if only HTTPS is allowed. (S-12)
Result<bool> parse_protocols(std::string_view text);
/// Checks for one IPv4 address, a range of two, or an empty text. (S-12)
Status check_addresses(std::string_view text);

/// Checks that `now` is in [start, expiry). Without an expiry it fails. (S-11)
Status check_window(const std::optional<DateTime>& start, const std::optional<DateTime>& expiry, DateTime now);
/// Checks the client's address and protocol.
/// Errors: kForbidden (AuthorizationSourceIPMismatch, AuthorizationProtocolMismatch). (S-12)
Status check_arrival(std::string_view addresses, bool https_only, const Arrival& arrival);

/// Returns the permissions of a signature for a table or queue with these policies. `terms` holds what the signature
/// says itself; its id is that of the policy that it names, or empty. Each term is set by one of the two, not by both.
/// (S-20, S-27, QS-13)
Result<Permissions> permitted_under(const AccessPolicy& terms, std::span<const AccessPolicy> policies, DateTime now);

}  // namespace varve::security
