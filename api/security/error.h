// Owns: the service's error strings for authentication and authorization.
// Must never: reveal why a signature is wrong.
#pragma once

#include <string_view>

#include "api/model/service_error.h"
#include "varve/status.h"

namespace varve::security {

inline Status forbidden(ErrorName service_error, std::string_view message) noexcept {
  return Status(Code::kForbidden, message).with_service_error(service_error);
}
inline Status authentication_failed(std::string_view message) noexcept {
  return forbidden("AuthenticationFailed", message);
}
inline Status protocol_mismatch(std::string_view message) noexcept {
  return forbidden("AuthorizationProtocolMismatch", message);
}
inline Status resource_type_mismatch(std::string_view message) noexcept {
  return forbidden("AuthorizationResourceTypeMismatch", message);
}
inline Status service_mismatch(std::string_view message) noexcept {
  return forbidden("AuthorizationServiceMismatch", message);
}
inline Status source_ip_mismatch(std::string_view message) noexcept {
  return forbidden("AuthorizationSourceIPMismatch", message);
}
inline Status no_authentication_information(std::string_view message) noexcept {
  return forbidden("NoAuthenticationInformation", message);
}
inline Status invalid_authentication_info(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidAuthenticationInfo");
}

}  // namespace varve::security
