// SPDX-License-Identifier: Apache-2.0
// Owns: the two secret keys of an account: signing with them, and verifying signatures.
// Must never: reveal or store a key, or take a time that depends on a secret.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "../result.h"
#include "../status.h"

namespace varve::security {

/// The key of the account that signs. A signature by either key is valid.
enum class KeyChoice : std::uint8_t { kPrimary, kSecondary };

/// Copies are cheap and share the keys. The keys are overwritten when the last copy is destroyed. Any thread.
class AccountKeys {
 public:
  /// Makes the keys from base64. If `secondary` is empty, the account has one key.
  /// Errors: kInvalidArgument (InvalidInput: a key is not base64, or not 1 to 1024 bytes), kOutOfMemory.
  static Result<AccountKeys> create(std::string_view primary, std::string_view secondary = {});

  /// Returns base64(HMAC-SHA256(key, message)).
  /// Errors: kNotFound (the account has no such key), kOutOfMemory (also if OpenSSL fails for another reason).
  Result<std::string> sign(std::string_view message, KeyChoice choice = KeyChoice::kPrimary) const;
  /// Returns true if `signature` is the signature of the message by one of the keys. Compares in constant time, with
  /// all keys. If OpenSSL fails, returns false.
  bool verify(std::string_view message, std::string_view signature) const;

 private:
  struct Secrets;
  explicit AccountKeys(std::shared_ptr<const Secrets> secrets) noexcept;
  std::shared_ptr<const Secrets> secrets_;
};

/// The name of an account and its keys, as its owner has them.
struct AccountCredentials {
  /// Name of the account, in lower case.
  std::string name;
  /// Keys that sign for the account, and that verify signatures.
  AccountKeys keys;
};

}  // namespace varve::security
