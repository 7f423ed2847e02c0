// Owns: the encoding of access policies in the catalog row of their table or queue.
// Must never: change another property of the row.
//
// Policy number n, from 0, has up to four properties: Policy<n>Id (String), and, if set, Policy<n>Start and
// Policy<n>Expiry (DateTime) and Policy<n>Permissions (String, some of `raud`, of a queue some of `raup`). The numbers
// have no gaps.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/access_policy.h"
#include "varve/result.h"

namespace varve {

/// Decodes the policies of a table's row. Errors: kCorruption (a policy that no caller could have set), kUnsupported.
Result<std::vector<AccessPolicy>> decode_access_policies(std::string_view row);
/// Decodes the policies of a queue's row. Errors: as decode_access_policies().
Result<std::vector<AccessPolicy>> decode_queue_access_policies(std::string_view row);
/// Decodes the policies of a container's row. Errors: as decode_access_policies().
Result<std::vector<AccessPolicy>> decode_container_access_policies(std::string_view row);
/// Returns the row with its policies replaced by these. Errors: as format::EncodedEntity::open.
Result<std::string> with_access_policies(std::string_view row, std::span<const AccessPolicy> policies);

}  // namespace varve
