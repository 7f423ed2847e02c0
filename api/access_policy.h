// SPDX-License-Identifier: Apache-2.0
// Owns: stored access policies as values: what they hold, their limits, and how their times are written.
// Must never: judge a signature that names one.
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

#pragma GCC visibility push(default)

namespace varve {

/// Kept with a table, under a name by which signatures refer to it; see Store::set_access_policies(). What it leaves
/// out the signature says itself. Source: S-27, S-41.
struct AccessPolicy {
  /// 1 to limits::kAccessPolicyIdCodeUnitsMax code units, unique within the table.
  std::string id;
  std::optional<DateTime> start{};
  std::optional<DateTime> expiry{};
  std::optional<Permissions> permissions{};
  bool operator==(const AccessPolicy&) const = default;
};

/// Errors   kInvalidArgument (InvalidXmlDocument)     more than limits::kAccessPoliciesMax, an id too long, empty, not
///                                                    UTF-8 or given twice
///          kInvalidArgument (InvalidXmlNodeValue)    a time that no DateTime property could hold
/// Source   S-41.
Status check_access_policies(std::span<const AccessPolicy> policies);

/// A time as signatures and policies have it: `YYYY-MM-DD`, or that and `Thh:mm`, `Thh:mm:ss` or `Thh:mm:ss.f` with a
/// zone; without one it is UTC.
/// Errors: kInvalidArgument (InvalidXmlNodeValue), also before 1601 or after 9999. Source: S-11, S-42.
Result<DateTime> parse_access_time(std::string_view text);
/// Always with 7 digits of fraction and `Z`. Source: S-42.
std::string access_time_text(DateTime time);

}  // namespace varve

#pragma GCC visibility pop
