// SPDX-License-Identifier: Apache-2.0
// Owns: table signatures ("table SAS", "service SAS"): query parameters that let whoever has them do some things with
// one table.
// Must never: let a bearer change what was signed, or take part of it away: a missing field and an empty one are alike.
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

/// The fields by the names that they have in the query, percent-decoded; empty where missing. Source: S-20.
struct TableSas {
  std::string sv, tn, sp, st, se, spk, srk, epk, erk, si, sip, spr, sig;
  bool operator==(const TableSas&) const = default;
};

/// What such a signature says.
struct TableSasTerms {
  /// `YYYY-MM-DD`, 2012-02-12 or later.
  std::string version = "2020-12-06";
  /// In any case of letters.
  std::string table{};
  /// This and `expiry` are given here or by the policy; `start` by one of them or none (S-20, S-27).
  std::optional<Permissions> permissions{};
  std::optional<DateTime> start{};
  std::optional<DateTime> expiry{};
  /// The id of a stored access policy, or empty.
  std::string policy{};
  KeyInterval interval{};
  /// One IPv4 address or two with `-` between, both inside; empty for any.
  std::string addresses{};
  bool https_only = false;
  bool operator==(const TableSasTerms&) const = default;
};

/// Errors: kForbidden (AuthenticationFailed: sv, tn or sig missing or malformed; a field given twice or badly encoded).
Result<TableSas> parse_table_sas(std::string_view query);
/// As it stands in a URL behind `?`.
std::string to_query(const TableSas& sas);
/// Source: S-22, S-23.
std::string string_to_sign(const TableSas& sas, std::string_view account);

/// For a whole table, a range of partitions, a range of keys, with or without a policy (C-10). A bound of the interval
/// cannot be an empty PartitionKey, nor its upper one an empty RowKey: the format takes those for missing.
/// Errors: kInvalidArgument (InvalidInput: the format cannot say these terms, or they lack what is required), and those
/// of check_table_name() and AccountKeys::sign().
Result<TableSas> sign_table_sas(const TableSasTerms& terms, const AccountCredentials& account,
                                KeyChoice choice = KeyChoice::kPrimary);

/// What was signed, if it was signed with a key of the account; nothing is judged that depends on time, place or
/// policies. Errors: kForbidden (AuthenticationFailed). Source: S-14, S-25.
Result<TableSasTerms> verify_table_sas(const TableSas& sas, const AccountCredentials& account);

/// What the terms permit at the time `now`, if the table has these policies.
/// Errors: kForbidden (AuthenticationFailed: not within its time; the policy is not there; something is said twice or
/// not at all). Source: S-11, S-20, S-27.
Result<Permissions> permitted_at(const TableSasTerms& terms, std::span<const AccessPolicy> policies, DateTime now);

}  // namespace varve::security
