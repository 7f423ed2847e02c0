// SPDX-License-Identifier: Apache-2.0
// Owns: blob signatures ("blob SAS"): query parameters that allow their bearer some operations on one container or blob.
// Must never: take a signature of one resource for that of another. The resource is that of the request's path, and is
// signed.
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

/// The fields under their names in the query, percent-decoded. A missing field is empty. No field names the container or
/// the blob. Source: BS-10.
struct BlobSas {
  /// @{
  /// BlobSasTerms gives the meaning of each field: `sv` version, `sr` kind of resource (`c` container, `b` blob), `sp`
  /// permissions, `st` start, `se` expiry, `si` policy, `sip` addresses, `spr` protocol. `rscc`, `rscd`, `rsce`, `rscl`
  /// and `rsct` replace headers of answers. `sig` is the signature in base64.
  std::string sv, sr, sp, st, se, si, sip, spr, rscc, rscd, rsce, rscl, rsct, sig;
  /// @}
  /// Compares the texts of all fields.
  bool operator==(const BlobSas&) const = default;
};

/// The headers that answers to reads have in place of those of the blob. An empty text replaces nothing. Source: BG-07.
struct BlobHeaderOverrides {
  std::string cache_control{};
  std::string content_disposition{};
  std::string content_encoding{};
  std::string content_language{};
  std::string content_type{};
  /// Compares all headers.
  bool operator==(const BlobHeaderOverrides&) const = default;
};

/// The meaning of the fields.
struct BlobSasTerms {
  /// `YYYY-MM-DD`, 2012-02-12 or later.
  std::string version = "2020-12-06";
  std::string container{};
  /// The blob's name, decoded. Empty: the signature is for the container and all of its blobs.
  std::string blob{};
  /// Permitted operations, some of Permissions::all_for_blobs(). They must be set either here or by the policy, not by
  /// both (BS-11, BS-12).
  std::optional<Permissions> permissions{};
  /// Time from which the signature is valid. It is set here, by the policy, or not at all; then it is valid at once.
  std::optional<DateTime> start{};
  /// Time at which the signature stops being valid. It must be set either here or by the policy, not by both.
  std::optional<DateTime> expiry{};
  /// The id of a stored access policy of the container, or empty.
  std::string policy{};
  /// One IPv4 address, or a range of two with `-` between them, both included. Empty allows every address.
  std::string addresses{};
  /// If true, requests over plain HTTP are refused.
  bool https_only = false;
  /// From version 2013-08-15 on.
  BlobHeaderOverrides overrides{};
  /// Compares all terms.
  bool operator==(const BlobSasTerms&) const = default;
};

/// Reads the fields from a query, and ignores other parameters.
/// Errors:
///   kForbidden (AuthenticationFailed)     sv is missing, malformed or too old; sig is missing; sr is neither `c` nor `b`; a
///                                         field occurs twice or is badly encoded; the query has fields of an account or
///                                         table signature, or of one by a user
///   kUnsupported (NotImplemented)         sr is `bs` (a snapshot), or the signature names an encryption scope (ses)
/// Source: BS-10, BZ-01.
Result<BlobSas> parse_blob_sas(std::string_view query);
/// Returns the fields as the part of a URL after the `?`.
std::string to_query(const BlobSas& sas);
/// Returns the text that the signature of this container or blob signs. If the name of the blob is empty, the container is
/// signed.
/// Source: BS-10.
std::string string_to_sign(const BlobSas& sas, std::string_view account, std::string_view container,
                           std::string_view blob);

/// Signs the terms with a key of the account, with or without a policy.
/// Errors: kInvalidArgument (InvalidInput: the format cannot express these terms, or a required term is missing), and
/// those of AccountKeys::sign(). The names are not checked: a signature for a name that no container has opens nothing.
Result<BlobSas> sign_blob_sas(const BlobSasTerms& terms, const AccountCredentials& account,
                              KeyChoice choice = KeyChoice::kPrimary);

/// Returns the terms if a key of the account signed them for this container, or for this blob, as `sr` says. Does not
/// check time, address and policies. Errors: kForbidden (AuthenticationFailed). Source: BS-10, BS-11.
Result<BlobSasTerms> verify_blob_sas(const BlobSas& sas, const AccountCredentials& account, std::string_view container,
                                     std::string_view blob);

/// Returns the permissions of the terms at the time `now`, for a container with these policies.
/// Errors: kForbidden (AuthenticationFailed: expired or not valid yet; the policy does not exist; the signature and the
/// policy both set a term; or neither sets permissions or expiry). Source: BS-11.
Result<Permissions> permitted_at(const BlobSasTerms& terms, std::span<const AccessPolicy> policies, DateTime now);

}  // namespace varve::security
