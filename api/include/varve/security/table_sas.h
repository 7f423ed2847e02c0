// SPDX-License-Identifier: Apache-2.0
// Owns: table signatures ("table SAS", "service SAS"): query parameters that allow their bearer some operations on one
// table.
// Must never: let a bearer change or remove a signed field. A missing field and an empty one are the same.
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

/// The fields under their names in the query, percent-decoded. A missing field is empty. Source: S-20.
struct TableSas {
  /// @{
  /// TableSasTerms gives the meaning of each field: `sv` version, `tn` table, `sp` permissions, `st` start, `se`
  /// expiry, `si` policy, `sip` addresses, `spr` protocol. `spk` and `srk` are the lower bound of the keys, `epk` and
  /// `erk` the upper bound. `sig` is the signature in base64.
  std::string sv, tn, sp, st, se, spk, srk, epk, erk, si, sip, spr, sig;
  /// @}
  /// Compares the texts of all fields.
  bool operator==(const TableSas&) const = default;
};

/// The meaning of the fields.
struct TableSasTerms {
  /// `YYYY-MM-DD`, 2012-02-12 or later.
  std::string version = "2020-12-06";
  /// In any case.
  std::string table{};
  /// Permitted operations. They must be set either here or by the policy, not by both (S-20, S-27).
  std::optional<Permissions> permissions{};
  /// Time from which the signature is valid. It is set here, by the policy, or not at all; then it is valid at once.
  std::optional<DateTime> start{};
  /// Time at which the signature stops being valid. It must be set either here or by the policy, not by both.
  std::optional<DateTime> expiry{};
  /// The id of a stored access policy, or empty.
  std::string policy{};
  /// Keys that the signature gives access to. Without bounds, it is the whole table.
  KeyInterval interval{};
  /// One IPv4 address, or a range of two with `-` between them, both included. Empty allows every address.
  std::string addresses{};
  /// If true, requests over plain HTTP are refused.
  bool https_only = false;
  /// Compares all terms.
  bool operator==(const TableSasTerms&) const = default;
};

/// Reads the fields from a query.
/// Errors: kForbidden (AuthenticationFailed: sv is missing, malformed or too old; tn or sig is missing; a field occurs
/// twice or is badly encoded; the query has fields of an account signature).
Result<TableSas> parse_table_sas(std::string_view query);
/// Returns the fields as the part of a URL after the `?`.
std::string to_query(const TableSas& sas);
/// Returns the text that the signature signs. Source: S-22, S-23.
std::string string_to_sign(const TableSas& sas, std::string_view account);

/// Signs the terms with a key of the account. The terms are for a whole table, a range of partitions or a range of
/// keys, with or without a policy (C-10). The format takes an empty bound for a missing one. So no bound may have an
/// empty PartitionKey, and the upper bound no empty RowKey.
/// Errors: kInvalidArgument (InvalidInput: the format cannot express these terms, or a required term is missing), and
/// those of check_table_name() and AccountKeys::sign().
Result<TableSas> sign_table_sas(const TableSasTerms& terms, const AccountCredentials& account,
                                KeyChoice choice = KeyChoice::kPrimary);

/// Returns the terms if a key of the account signed them. Does not check time, address and policies.
/// Errors: kForbidden (AuthenticationFailed). Source: S-14, S-25.
Result<TableSasTerms> verify_table_sas(const TableSas& sas, const AccountCredentials& account);

/// Returns the permissions of the terms at the time `now`, for a table with these policies.
/// Errors: kForbidden (AuthenticationFailed: expired or not valid yet; the policy does not exist; the signature and the
/// policy both set a term; or neither sets permissions or expiry). Source: S-11, S-20, S-27.
Result<Permissions> permitted_at(const TableSasTerms& terms, std::span<const AccessPolicy> policies, DateTime now);

}  // namespace varve::security
