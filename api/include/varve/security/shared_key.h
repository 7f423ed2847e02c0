// SPDX-License-Identifier: Apache-2.0
// Owns: requests that are signed with an account's key: SharedKey and SharedKeyLite.
// Must never: accept a signature that was not made for the request at hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../result.h"
#include "../service_properties.h"
#include "../status.h"
#include "../types.h"
#include "account_keys.h"
#include "request.h"

namespace varve::security {

/// The scheme of the Authorization header. SharedKeyLite signs fewer parts of the request (S-02, S-03).
enum class SharedKeyScheme : std::uint8_t { kSharedKey, kSharedKeyLite };

/// Returns the text to sign for a request to a service of `account`. Requests to queues and blobs sign more headers, and
/// the whole query. Errors: kForbidden (AuthenticationFailed: no
/// date, or `comp` occurs twice in the query or is badly encoded). Source: S-02, S-03, S-04, QS-01 to QS-05.
Result<std::string> shared_key_string_to_sign(SharedKeyScheme scheme, const Request& request, std::string_view account,
                                              StorageService service = StorageService::kTables);

/// Returns the value of the Authorization header (S-01). Errors: as above and as AccountKeys::sign().
Result<std::string> shared_key_authorization(SharedKeyScheme scheme, const Request& request,
                                             const AccountCredentials& account, KeyChoice choice = KeyChoice::kPrimary,
                                             StorageService service = StorageService::kTables);

/// Verifies the request's Authorization header at the present time `now`. It accepts a path that was encoded
/// differently when it was signed (S-06), and a path that names the account's secondary (S-04).
/// Errors:
///   kInvalidArgument (InvalidAuthenticationInfo)   the header is missing, malformed, or occurs twice
///   kForbidden (AuthenticationFailed)              the signature or the account is wrong; the date is missing, or more
///                                                  than 15 minutes off
///   kForbidden (NoAuthenticationInformation)       a bearer token, which is not supported (S-08)
/// Source: S-01 to S-07, QS-06.
Status verify_shared_key(const Request& request, const AccountCredentials& account, DateTime now,
                         StorageService service = StorageService::kTables);

}  // namespace varve::security
