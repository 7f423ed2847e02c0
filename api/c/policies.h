// Owns: the access policies that a call of the C interface returned, and those that a caller gives.
// Must never: check a rule of policies; the verbs do.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "api/c/handles.h"
#include "api/c/values.h"
#include "varve/access_policy.h"
#include "varve/c.h"

namespace varve::c {

/// varve_policies.
class PoliciesObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kPolicies;
  static constexpr bool kOneThread = false;

  explicit PoliciesObject(std::vector<AccessPolicy> policies);

  varve_policies_view view() const noexcept { return {sizeof(varve_policies_view), shown_.data(), shown_.size()}; }

 private:
  const std::vector<AccessPolicy> policies_;
  std::vector<std::string> letters_;  // the permissions of each policy
  std::vector<varve_access_policy> shown_;
};

}  // namespace varve::c
