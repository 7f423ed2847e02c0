// Owns: the terms that the service signatures of tables, queues and blobs share, and their fields.
// Must never: know the resource of a signature. Each service signs its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/model/service_error.h"
#include "varve/access.h"
#include "varve/result.h"
#include "varve/security/account_keys.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve::security {

/// The oldest version of service signatures.
inline constexpr std::string_view kOldestServiceVersion = "2012-02-12";
/// The first version whose signed resource begins with the name of the service.
inline constexpr std::string_view kServiceNameVersion = "2015-02-21";
/// The first version with addresses and protocols.
inline constexpr std::string_view kConditionsVersion = "2015-04-05";

/// The shared fields of a signature, as texts.
struct SharedFields {
  std::string_view sv, sp, st, se, sip, spr;
};

/// The meaning of the fields that are not kept as texts.
struct SharedTerms {
  std::optional<Permissions> permissions{};
  std::optional<DateTime> start{};
  std::optional<DateTime> expiry{};
  bool https_only = false;
};

/// Returns the meaning of the fields. `parse` reads the letters of the service's permissions.
/// Errors: kForbidden (AuthenticationFailed).
Result<SharedTerms> shared_terms(const SharedFields& fields, Result<Permissions> (*parse)(std::string_view letters));

/// Returns the beginning of the signed resource: `/queue/` or, before kServiceNameVersion, `/`.
std::string resource_prefix(std::string_view version, std::string_view service);

/// Sets the terms that the signatures of all services have. Errors: as shared_terms().
template <typename Sas, typename Terms>
Status read_shared_terms(const Sas& sas, Result<Permissions> (*parse)(std::string_view letters), Terms& terms) {
  const Result<SharedTerms> shared = shared_terms({sas.sv, sas.sp, sas.st, sas.se, sas.sip, sas.spr}, parse);
  if (!shared.ok()) return shared.status();
  terms.version = sas.sv;
  terms.permissions = shared->permissions;
  terms.start = shared->start;
  terms.expiry = shared->expiry;
  terms.policy = sas.si;
  terms.addresses = sas.sip;
  terms.https_only = shared->https_only;
  return Status();
}

/// Sets the fields that the signatures of all services have.
template <typename Terms, typename Sas>
void write_shared_fields(const Terms& terms, Sas& sas) {
  sas.sv = terms.version;
  if (terms.permissions) sas.sp = terms.permissions->to_string();
  if (terms.start) sas.st = terms.start->to_string();
  if (terms.expiry) sas.se = terms.expiry->to_string();
  sas.si = terms.policy;
  sas.sip = terms.addresses;
  if (terms.https_only) sas.spr = "https";
}

/// Signs `text` into the fields. Errors: kInvalidArgument (InvalidInput: the terms lack a policy, and permissions or an
/// expiry as well), and those of AccountKeys::sign().
template <typename Terms, typename Sas>
Status sign_fields(const Terms& terms, const AccountCredentials& account, KeyChoice choice, std::string_view text,
                   Sas& sas) {
  if (terms.policy.empty() && !(terms.permissions && terms.expiry)) {
    return service_error::invalid_input("a signature without a policy needs permissions and an expiry");
  }
  Result<std::string> signature = account.keys.sign(text, choice);
  if (!signature.ok()) return signature.status();
  sas.sig = *std::move(signature);
  return Status();
}

}  // namespace varve::security
