// Owns: the error strings that only a server gives, and which HTTP status each error string of the service has.
// Must never: let a client see what is no business of it: paths, offsets, or why a signature is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::serve {

/// A failure as the service tells it.
struct WireError {
  std::uint16_t status = 500;
  std::string_view code;
  /// With the index of the operation in front, where one is to blame (T-11).
  std::string message;
};

/// Total: a status without an error string of the service gets the one that says best what the client can do.
WireError wire_error(const Status& status);

/// A failure with an error string that wire_error() knows; of a request that can never succeed as it stands.
inline Status refused(std::string_view service_error, std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error(service_error);
}

}  // namespace varve::serve
