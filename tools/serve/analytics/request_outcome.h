// Owns: how a request ended and who asked, as logs and metrics of an account say it.
// Must never: check a caller. A signature that is wrong counts as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"

namespace varve::serve {

/// The kinds of authentication.
enum class Caller : std::uint8_t { kAuthenticated, kAnonymous, kSas };
inline constexpr std::size_t kCallers = 3;

/// The request statuses without the prefix of the caller. Source: AL-06.
enum class Outcome : std::uint8_t {
  kSuccess,
  kThrottlingError,
  kClientTimeoutError,
  kServerTimeoutError,
  kClientOtherError,
  kServerOtherError,
  kAuthorizationError,
  kNetworkError,
};
inline constexpr std::size_t kOutcomes = 8;

Caller caller_of(const HttpRequest& request) noexcept;
/// Returns the outcome of an answered request. If an operation lasts too long, a client that set a `timeout` is the
/// cause, and the server otherwise. A condition that is not met (304) and a feature that is left out (501) are errors of
/// the client.
Outcome outcome_of(const HttpRequest& request, const HttpResponse& response) noexcept;
/// Returns a status such as "SASClientOtherError".
std::string request_status(Caller caller, Outcome outcome);
/// Returns "authenticated", "anonymous" or "SAS".
std::string_view authentication_type(Caller caller) noexcept;

}  // namespace varve::serve
