// Owns: the meaning of the fields that service signatures share (service_terms.h).
// Must never: interpret the fields of a signature before it is verified.
#include "api/security/service_terms.h"

#include "api/security/error.h"
#include "api/security/token_conditions.h"

namespace varve::security {

Result<SharedTerms> shared_terms(const SharedFields& fields, Result<Permissions> (*parse)(std::string_view letters)) {
  if (Status versioned = check_version(fields.sv, kOldestServiceVersion); !versioned.ok()) return versioned;
  if (fields.sv < kConditionsVersion && !(fields.sip.empty() && fields.spr.empty())) {
    return authentication_failed("the version of the token (sv) does not allow sip and spr");
  }
  const Result<std::optional<DateTime>> start = parse_time(fields.st);
  if (!start.ok()) return start.status();
  const Result<std::optional<DateTime>> expiry = parse_time(fields.se);
  if (!expiry.ok()) return expiry.status();
  const Result<Permissions> permissions = parse(fields.sp);
  if (!permissions.ok()) return authentication_failed(permissions.status().message());
  const Result<bool> https_only = parse_protocols(fields.spr);
  if (!https_only.ok()) return https_only.status();
  if (Status placed = check_addresses(fields.sip); !placed.ok()) return placed;
  SharedTerms terms;
  // Empty fields of permissions say nothing. Letters without a meaning here say that nothing is permitted.
  if (!fields.sp.empty()) terms.permissions = *permissions;
  terms.start = *start;
  terms.expiry = *expiry;
  terms.https_only = *https_only;
  return terms;
}

std::string resource_prefix(std::string_view version, std::string_view service) {
  std::string prefix(1, '/');
  if (version >= kServiceNameVersion) prefix.append(service).append(1, '/');
  return prefix;
}

}  // namespace varve::security
