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
  std::string sv, tn, sp, st, se, spk, srk, epk, erk, si, sip, spr, sig;
  bool operator==(const TableSas&) const = default;
};

/// The meaning of the fields.
struct TableSasTerms {
  /// `YYYY-MM-DD`, 2012-02-12 or later.
  std::string version = "2020-12-06";
  /// In any case.
  std::string table{};
  /// `permissions` and `expiry` must be set either here or by the policy, not by both. `start` is set by one of them,
  /// or not at all (S-20, S-27).
  std::optional<Permissions> permissions{};
  std::optional<DateTime> start{};
  std::optional<DateTime> expiry{};
  /// The id of a stored access policy, or empty.
  std::string policy{};
  KeyInterval interval{};
  /// One IPv4 address, or a range of two with `-` between them, both included. Empty allows every address.
  std::string addresses{};
  bool https_only = false;
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
