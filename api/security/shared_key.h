// SPDX-License-Identifier: Apache-2.0
// Owns: requests signed with an account's key: SharedKey and SharedKeyLite.
// Must never: accept a signature whose string was not made from the request at hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../result.h"
#include "../status.h"
#include "../types.h"
#include "account_keys.h"
#include "request.h"

namespace varve::security {

enum class SharedKeyScheme : std::uint8_t { kSharedKey, kSharedKeyLite };

/// What is signed of a request to the tables of `account`. Errors: kForbidden (AuthenticationFailed: no date, or a
/// query whose `comp` is given twice or badly encoded). Source: S-02, S-03, S-04.
Result<std::string> shared_key_string_to_sign(SharedKeyScheme scheme, const Request& request, std::string_view account);

/// The value of the Authorization header (S-01). Errors: as above and as AccountKeys::sign.
Result<std::string> shared_key_authorization(SharedKeyScheme scheme, const Request& request,
                                             const AccountCredentials& account, KeyChoice choice = KeyChoice::kPrimary);

/// Judges the request's Authorization header. `now` is the present time. A path may have been encoded differently when
/// it was signed (S-06), and may name the account's secondary (S-04).
/// Errors   kInvalidArgument (InvalidAuthenticationInfo)    no header, two, or a malformed one
///          kForbidden (AuthenticationFailed)               the signature or the account is wrong; the date is missing
///          or
///                                                          more than 15 minutes off
///          kForbidden (NoAuthenticationInformation)        a bearer token: nobody here knows one (S-08)
/// Source   S-01 to S-07.
Status verify_shared_key(const Request& request, const AccountCredentials& account, DateTime now);

}  // namespace varve::security
