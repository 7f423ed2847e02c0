// SPDX-License-Identifier: Apache-2.0
// Owns: stored access policies as values: their content, their limits, and the text form of their times.
// Must never: judge a signature that refers to a policy.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access.h"
#include "result.h"
#include "status.h"
#include "types.h"
#include "version.h"

namespace varve {

/// A policy that is stored with a table, a queue or a container under an id; see Store::set_access_policies(),
/// Queue::set_access_policies() and Container::set_access(). Signatures refer to the id. If the policy leaves a field out, the signature itself
/// supplies that field. Source: S-27, S-41, QB-09.
struct AccessPolicy {
  /// The id has 1 to limits::kAccessPolicyIdCodeUnitsMax UTF-16 code units and is unique within the table
  /// or queue.
  std::string id;
  /// The time from which a signature permits access, in UTC.
  std::optional<DateTime> start{};
  /// The time from which a signature no longer permits access, in UTC.
  std::optional<DateTime> expiry{};
  /// What a signature permits.
  std::optional<Permissions> permissions{};
  bool operator==(const AccessPolicy&) const = default;
};

/// Checks the policies of one table.
/// Errors   kInvalidArgument (InvalidXmlDocument)     more than limits::kAccessPoliciesMax policies; or an id that is
///                                                    empty, too long, not UTF-8, or given twice
///          kInvalidArgument (InvalidXmlNodeValue)    a time outside the range of DateTime properties; or a permission
///                                                    that is not one of Permissions::all()
/// Source   S-41.
VARVE_EXPORT Status check_access_policies(std::span<const AccessPolicy> policies);
/// Checks the policies of one queue. Its permissions are those of Permissions::all_for_queues(). Errors: as
/// check_access_policies(). Source: QB-09.
VARVE_EXPORT Status check_queue_access_policies(std::span<const AccessPolicy> policies);
/// Checks the policies of one container. Its permissions are those of Permissions::all_for_blobs(). Errors: as
/// check_access_policies(). Source: BB-14, BS-12.
VARVE_EXPORT Status check_container_access_policies(std::span<const AccessPolicy> policies);

/// Parses a time as signatures and policies write it: `YYYY-MM-DD`, alone or followed by `Thh:mm`, `Thh:mm:ss` or
/// `Thh:mm:ss.f`. A time of day may end in a zone. Without a zone the time is UTC.
/// Errors: kInvalidArgument (InvalidXmlNodeValue: another form, or a time before 1601 or after 9999). Source: S-11,
/// S-42.
VARVE_EXPORT Result<DateTime> parse_access_time(std::string_view text);
/// Returns the time as text, always with 7 fraction digits and `Z`: `2026-03-03T10:20:30.4767000Z`. Source: S-42.
VARVE_EXPORT std::string access_time_text(DateTime time);

}  // namespace varve
