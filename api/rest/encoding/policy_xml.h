// Owns: stored access policies as the XML that clients send and get.
// Must never: resolve an entity of a document, or take a document that it does not understand whole.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/access_policy.h"
#include "varve/result.h"

namespace varve::serve {

/// An empty body is no policies (S-40). The store judges the ids.
/// Errors: kInvalidArgument (InvalidXmlDocument: no XML, other elements, one twice, or more policies than
/// limits::kAccessPoliciesMax; InvalidXmlNodeValue: a time or permissions that are none). Source: S-40 to S-42.
Result<std::vector<AccessPolicy>> read_policies(std::string_view body);
/// A policy without start, expiry and permissions has no AccessPolicy element.
std::string write_policies(std::span<const AccessPolicy> policies);

}  // namespace varve::serve
