// Owns: stored access policies as the XML that clients send and receive.
// Must never: resolve an entity of a document, or accept a document that it understands only in part.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/access_policy.h"
#include "varve/result.h"

namespace varve::serve {

/// Parses the letters of permissions, as Permissions::parse().
using ParsePermissions = Result<Permissions> (*)(std::string_view letters);

/// What an empty Permission says. A client of the services writes one for a policy that leaves its permissions to the
/// signature. Varve writes one for a policy that permits nothing.
enum class EmptyPermission : bool { kLeftOut, kPermitsNothing };

/// Reads access policies. An empty body means no policies (S-40). The store checks the ids. Errors: kInvalidArgument:
/// - InvalidXmlDocument: the body is no XML, has unknown elements or an element twice, or has more policies than
///   limits::kAccessPoliciesMax.
/// - InvalidXmlNodeValue: a time or the permissions cannot be parsed.
/// Source: S-40 to S-42, QB-09.
Result<std::vector<AccessPolicy>> read_policies(std::string_view body, ParsePermissions parse,
                                                EmptyPermission empty = EmptyPermission::kLeftOut);
/// Returns policies as XML. A policy without start, expiry and permissions gets no AccessPolicy element.
std::string write_policies(std::span<const AccessPolicy> policies);

}  // namespace varve::serve
