// SPDX-License-Identifier: Apache-2.0
// Owns: queue signatures ("queue SAS"): query parameters that allow their bearer some operations on one queue.
// Must never: take a signature of one queue for that of another. The queue is that of the request's path, and is signed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "../access.h"
#include "../access_policy.h"
#include "../result.h"
#include "../status.h"
#include "../types.h"
#include "account_keys.h"

namespace varve::security {

/// The fields under their names in the query, percent-decoded. A missing field is empty. No field names the queue.
/// Source: QS-10, QS-11.
struct QueueSas {
  /// @{
  /// QueueSasTerms gives the meaning of each field: `sv` version, `sp` permissions, `st` start, `se` expiry, `si`
  /// policy, `sip` addresses, `spr` protocol. `sig` is the signature in base64.
  std::string sv, sp, st, se, si, sip, spr, sig;
  /// @}
  /// Compares the texts of all fields.
  bool operator==(const QueueSas&) const = default;
};

/// The meaning of the fields.
struct QueueSasTerms {
  /// `YYYY-MM-DD`, 2012-02-12 or later.
  std::string version = "2020-12-06";
  std::string queue{};
  /// Permitted operations, some of Permissions::all_for_queues(). They must be set either here or by the policy, not by
  /// both (QS-12, QS-13).
  std::optional<Permissions> permissions{};
  /// Time from which the signature is valid. It is set here, by the policy, or not at all; then it is valid at once.
  std::optional<DateTime> start{};
  /// Time at which the signature stops being valid. It must be set either here or by the policy, not by both.
  std::optional<DateTime> expiry{};
  /// The id of a stored access policy of the queue, or empty.
  std::string policy{};
  /// One IPv4 address, or a range of two with `-` between them, both included. Empty allows every address.
  std::string addresses{};
  /// If true, requests over plain HTTP are refused.
  bool https_only = false;
  /// Compares all terms.
  bool operator==(const QueueSasTerms&) const = default;
};

/// Reads the fields from a query, and ignores other parameters.
/// Errors: kForbidden (AuthenticationFailed: sv is missing, malformed or too old; sig is missing; a field occurs twice or
/// is badly encoded; the query has fields of an account or table signature).
Result<QueueSas> parse_queue_sas(std::string_view query);
/// Returns the fields as the part of a URL after the `?`.
std::string to_query(const QueueSas& sas);
/// Returns the text that the signature of this queue signs. Source: QS-11.
std::string string_to_sign(const QueueSas& sas, std::string_view account, std::string_view queue);

/// Signs the terms with a key of the account, with or without a policy.
/// Errors: kInvalidArgument (InvalidInput: the format cannot express these terms, or a required term is missing), and
/// those of check_queue_name() and AccountKeys::sign().
Result<QueueSas> sign_queue_sas(const QueueSasTerms& terms, const AccountCredentials& account,
                                KeyChoice choice = KeyChoice::kPrimary);

/// Returns the terms if a key of the account signed them for this queue. Does not check time, address and policies.
/// Errors: kForbidden (AuthenticationFailed). Source: QS-11, QS-13.
Result<QueueSasTerms> verify_queue_sas(const QueueSas& sas, const AccountCredentials& account, std::string_view queue);

/// Returns the permissions of the terms at the time `now`, for a queue with these policies.
/// Errors: kForbidden (AuthenticationFailed: expired or not valid yet; the policy does not exist; the signature and the
/// policy both set a term; or neither sets permissions or expiry). Source: QS-13, QS-14.
Result<Permissions> permitted_at(const QueueSasTerms& terms, std::span<const AccessPolicy> policies, DateTime now);

}  // namespace varve::security
