// SPDX-License-Identifier: Apache-2.0
// Owns: the interface of a key-encryption key, which may be in memory, in a file or in a vault.
// Must never: see the data. It only wraps and unwraps content keys.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <varve/result.h>

#include "secret_bytes.h"

namespace varve {

/// The caller's key that wraps the content key of every entity. Its id is stored unencrypted with each entity, and a
/// reader finds the key by it. Several threads may call all members at once. Source: C-20.
class KeyEncryptionKey {
 public:
  virtual ~KeyEncryptionKey() = default;

  /// Returns the id: at most kKeyIdBytesMax bytes of UTF-8.
  virtual std::string_view id() const noexcept = 0;
  /// Returns the algorithm of wrap(): for example "A256KW" or "RSA-OAEP". It is stored with each entity. A reader
  /// refuses a key with another algorithm.
  virtual std::string_view algorithm() const noexcept = 0;
  /// Wraps a content key of 32 or 40 bytes. Errors: kUnsupported (this key can only unwrap, or cannot do either).
  virtual Result<std::string> wrap(const SecretBytes& content_key) const = 0;
  /// Unwraps a content key. `wrapped` comes from outside and may be anything. Errors: kCorruption (this key did not
  /// wrap it, or it was changed), kUnsupported (this key can only wrap).
  virtual Result<SecretBytes> unwrap(std::string_view wrapped) const = 0;
};

/// Returns the key with this id, or null if it is not known. Called on the thread that reads. An error ends the read.
using KeyResolver = std::function<Result<std::shared_ptr<const KeyEncryptionKey>>(std::string_view id)>;

/// Maximum length of KeyEncryptionKey::id(), in bytes.
inline constexpr std::size_t kKeyIdBytesMax = 1024;

/// Makes a key in memory that wraps by AES key wrap with 256 bits (RFC 3394), called "A256KW".
/// Errors: kInvalidArgument (the key is not 32 bytes).
Result<std::shared_ptr<const KeyEncryptionKey>> make_aes_key(std::string id, SecretBytes key);

/// Makes an RSA key that wraps by OAEP with SHA-1, which is the meaning of "RSA-OAEP" (RFC 7518, 4.3). `pem` is an
/// unencrypted private key, which wraps and unwraps, or a public key, which only wraps.
/// Errors: kInvalidArgument (not an RSA key in PEM, more than 65,536 bytes of PEM, or not 2048 to 16384 bits).
Result<std::shared_ptr<const KeyEncryptionKey>> make_rsa_key(std::string id, std::string_view pem);

}  // namespace varve
