// SPDX-License-Identifier: Apache-2.0
// Owns: the two secret keys of an account, and what is signed and verified with them.
// Must never: give a key away, store one, or take a time that depends on a secret.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "../result.h"
#include "../status.h"

namespace varve::security {

/// Which of an account's keys signs. A signature by either one is valid.
enum class KeyChoice : std::uint8_t { kPrimary, kSecondary };

/// Copies are cheap and share the keys, which are overwritten when the last copy goes. Any thread.
class AccountKeys {
 public:
  /// From base64. Without a secondary key there is one key only.
  /// Errors: kInvalidArgument (InvalidInput: not base64, or of no or more than 1024 bytes), kOutOfMemory.
  static Result<AccountKeys> create(std::string_view primary, std::string_view secondary = {});

  /// Base64(HMAC-SHA256(key, message)).
  /// Errors: kNotFound (there is no such key), kOutOfMemory (also what else keeps OpenSSL from it).
  Result<std::string> sign(std::string_view message, KeyChoice choice = KeyChoice::kPrimary) const;
  /// Whether one of the keys signs the message so. Compares in constant time, with all keys. False also where OpenSSL
  /// fails.
  bool verify(std::string_view message, std::string_view signature) const;

 private:
  struct Secrets;
  explicit AccountKeys(std::shared_ptr<const Secrets> secrets) noexcept;
  std::shared_ptr<const Secrets> secrets_;
};

/// An account as its owner knows it.
struct AccountCredentials {
  std::string name;
  AccountKeys keys;
};

}  // namespace varve::security
