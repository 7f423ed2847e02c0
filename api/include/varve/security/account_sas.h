// SPDX-License-Identifier: Apache-2.0
// Owns: account signatures ("account SAS"): query parameters that allow their bearer some operations on all tables,
// queues or blobs.
// Must never: accept a signature of a narrower kind as an account signature.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../access.h"
#include "../result.h"
#include "../service_properties.h"
#include "../status.h"
#include "../types.h"
#include "account_keys.h"

namespace varve::security {

/// An operation on an account, on a table as a whole, on a queue and its messages, or on a container and its blobs.
/// Source: S-24, S-32, QS-12, BS-12.
enum class AccountOperation : std::uint8_t {
  kListTables,
  kCreateTable,
  kDropTable,
  kReadServiceProperties,
  kWriteServiceProperties,
  kReadServiceStatistics,
  kReadAccessPolicies,
  kWriteAccessPolicies,
  kListQueues,
  kCreateQueue,
  kDropQueue,
  kReadQueueMetadata,
  kWriteQueueMetadata,
  kPeekMessages,
  kPutMessage,
  kGetMessages,
  kRemoveMessage,
  kUpdateMessage,
  kClearMessages,
  kListContainers,
  kCreateContainer,
  kDropContainer,
  /// Reads the properties and metadata of a container.
  kReadContainer,
  kWriteContainerMetadata,
  kLeaseContainer,
  kBreakContainerLease,
  kListBlobs,
  /// Reads content, properties, metadata or the list of blocks, or copies from the blob.
  kReadBlob,
  /// Puts a blob under a name that has none.
  kCreateBlob,
  /// Puts a blob under a name that may have one.
  kReplaceBlob,
  kPutBlock,
  kAppendBlock,
  /// Sets properties, metadata, lease or tier.
  kChangeBlob,
  kRemoveBlob,
  kReadBlobTags,
  kWriteBlobTags,
  /// Reads the kind of the account.
  kReadAccountInformation,
  /// Sends a batch. Each request in it needs a permission of its own.
  kSendBlobBatch,
};

/// The fields under their names in the query, percent-decoded. A missing field is empty. Source: S-30.
struct AccountSas {
  /// @{
  /// AccountSasTerms gives the meaning of each field: `sv` version, `ss` services, `srt` resource types, `sp`
  /// permissions, `st` start, `se` expiry, `sip` addresses, `spr` protocol. `sig` is the signature in base64; `ses` is
  /// an encryption scope, which tables do not use.
  std::string sv, ss, srt, sp, st, se, sip, spr, ses, sig;
  /// @}
  /// Compares the texts of all fields.
  bool operator==(const AccountSas&) const = default;
};

/// The meaning of the fields.
struct AccountSasTerms {
  /// `YYYY-MM-DD`, 2015-04-05 or later.
  std::string version = "2020-12-06";
  /// Lower-case letters: `t` is the table service, `q` the queue service, `b` the blob service.
  std::string services = "t";
  /// Some of the letters `sco`: service, containers (tables, queues, containers), objects (entities, messages,
  /// blobs).
  std::string resource_types{};
  /// Lower-case letters. For tables, `r` `w` `d` `l` `a` `c` `u` have a meaning (S-32, S-33); for queues `p` too, for blobs
  /// `t` (BS-12).
  std::string permissions{};
  /// Time from which the signature is valid. If not set, it is valid at once.
  std::optional<DateTime> start{};
  /// Time at which the signature stops being valid. Required.
  std::optional<DateTime> expiry{};
  /// As TableSasTerms::addresses.
  std::string addresses{};
  /// If true, requests over plain HTTP are refused.
  bool https_only = false;
  /// Compares all terms.
  bool operator==(const AccountSasTerms&) const = default;
};

/// Reads the fields from a query.
/// Errors: kForbidden (AuthenticationFailed: sv is missing, malformed or too old; se or sig is missing; a field occurs
/// twice or is badly encoded; the query has a table, a policy or a range of keys, which an account signature cannot
/// have, S-33).
Result<AccountSas> parse_account_sas(std::string_view query);
/// Returns the fields as the part of a URL after the `?`.
std::string to_query(const AccountSas& sas);
/// Returns the text that the signature signs. Source: S-31.
std::string string_to_sign(const AccountSas& sas, std::string_view account);

/// Signs the terms with a key of the account.
/// Errors: kInvalidArgument (InvalidInput: the format cannot express these terms), and those of AccountKeys::sign().
Result<AccountSas> sign_account_sas(const AccountSasTerms& terms, const AccountCredentials& account,
                                    KeyChoice choice = KeyChoice::kPrimary);

/// Returns the terms if a key of the account signed them and they are for the service. Does not check time and address.
/// Errors: kForbidden (AuthenticationFailed, AuthorizationServiceMismatch), kUnsupported (NotImplemented: an encryption
/// scope for blobs). Source: S-14, S-30.
Result<AccountSasTerms> verify_account_sas(const AccountSas& sas, const AccountCredentials& account,
                                           StorageService service = StorageService::kTables);

/// Checks that the terms permit the operation. They never permit access to access policies.
/// Errors: kForbidden (AuthorizationFailure: access policies; AuthorizationServiceMismatch,
/// AuthorizationResourceTypeMismatch, AuthorizationPermissionMismatch). Source: S-32.
Status check_operation(const AccountSasTerms& terms, AccountOperation operation);
/// Returns the permissions on entities. Errors: kForbidden (AuthorizationServiceMismatch,
/// AuthorizationResourceTypeMismatch). Source: S-32.
Result<Permissions> entity_permissions(const AccountSasTerms& terms);

}  // namespace varve::security
