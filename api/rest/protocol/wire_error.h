// Owns: the error strings that only a server returns, and the HTTP status of each error string of the service.
// Must never: show a client internal details: paths, offsets, or why a signature is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::serve {

/// A failure in the form of the service's answers.
struct WireError {
  std::uint16_t status = 500;
  std::string_view code;
  /// The message. If one operation caused the failure, the message begins with the operation's index (T-11).
  std::string message;
};

/// Returns the answer for any status. If a status has no error string of the service, the string that best describes
/// the client's next step is used.
WireError wire_error(const Status& status);

/// Returns a failure with an error string that wire_error() knows. The unchanged request can never succeed.
inline Status refused(ErrorName service_error, std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error(service_error);
}

}  // namespace varve::serve
