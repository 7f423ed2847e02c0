// SPDX-License-Identifier: Apache-2.0
// Owns: account signatures ("account SAS"): query parameters that let whoever has them do some things in all tables.
// Must never: take a narrower signature than this kind can be for one of this kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../access.h"
#include "../result.h"
#include "../status.h"
#include "../types.h"
#include "account_keys.h"

namespace varve::security {

/// What is done with an account or with a table as a whole. Source: S-24, S-32.
enum class AccountOperation : std::uint8_t {
  kListTables,
  kCreateTable,
  kDropTable,
  kReadServiceProperties,
  kWriteServiceProperties,
  kReadServiceStatistics,
  kReadAccessPolicies,
  kWriteAccessPolicies,
};

/// The fields by the names that they have in the query, percent-decoded; empty where missing. Source: S-30.
struct AccountSas {
  std::string sv, ss, srt, sp, st, se, sip, spr, ses, sig;
  bool operator==(const AccountSas&) const = default;
};

/// What such a signature says.
struct AccountSasTerms {
  /// `YYYY-MM-DD`, 2015-04-05 or later.
  std::string version = "2020-12-06";
  /// Letters; tables are `t`.
  std::string services = "t";
  /// Some of `sco`: service, containers (tables), objects (entities).
  std::string resource_types{};
  /// Letters; of them `r` `w` `d` `l` `a` `c` `u` mean something for tables (S-32, S-33).
  std::string permissions{};
  std::optional<DateTime> start{};
  /// Required.
  std::optional<DateTime> expiry{};
  /// As TableSasTerms::addresses.
  std::string addresses{};
  bool https_only = false;
  bool operator==(const AccountSasTerms&) const = default;
};

/// Errors: kForbidden (AuthenticationFailed: sv, se or sig missing or malformed; a field given twice or badly encoded;
/// a table, a policy or a range of keys beside it, which it cannot have, S-33).
Result<AccountSas> parse_account_sas(std::string_view query);
/// As it stands in a URL behind `?`.
std::string to_query(const AccountSas& sas);
/// Source: S-31.
std::string string_to_sign(const AccountSas& sas, std::string_view account);

/// Errors: kInvalidArgument (InvalidInput: the format cannot say these terms), and those of AccountKeys::sign().
Result<AccountSas> sign_account_sas(const AccountSasTerms& terms, const AccountCredentials& account,
                                    KeyChoice choice = KeyChoice::kPrimary);

/// What was signed, if it was signed with a key of the account and for tables; nothing is judged that depends on time
/// or place. Errors: kForbidden (AuthenticationFailed, AuthorizationServiceMismatch). Source: S-14, S-30.
Result<AccountSasTerms> verify_account_sas(const AccountSas& sas, const AccountCredentials& account);

/// Errors: kForbidden (AuthorizationFailure: access policies; AuthorizationResourceTypeMismatch,
/// AuthorizationPermissionMismatch). Source: S-32.
Status check_operation(const AccountSasTerms& terms, AccountOperation operation);
/// What it permits to do with entities. Errors: kForbidden (AuthorizationResourceTypeMismatch). Source: S-32.
Result<Permissions> entity_permissions(const AccountSasTerms& terms);

}  // namespace varve::security
