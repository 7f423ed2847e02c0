// Owns: how access policies stand in the catalog row of their table.
// Must never: touch another property of the row.
//
// The n-th policy, from 0, is up to four properties: Policy<n>Id (String), and where they are given Policy<n>Start and
// Policy<n>Expiry (DateTime) and Policy<n>Permissions (String, some of `raud`). They are numbered without a gap.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/access_policy.h"
#include "varve/result.h"

namespace varve {

/// Of the row of a table. Errors: kCorruption (a policy that could not have been set), kUnsupported.
Result<std::vector<AccessPolicy>> decode_access_policies(std::string_view row);
/// The row with these policies, in place of those it has. Errors: as EntityView::open.
Result<std::string> with_access_policies(std::string_view row, std::span<const AccessPolicy> policies);

}  // namespace varve
