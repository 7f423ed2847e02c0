// SPDX-License-Identifier: Apache-2.0
// Owns: what a key-encryption key must be able to do, wherever it lies: in memory, in a file, in a vault.
// Must never: see the data; it wraps and unwraps content keys alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <varve/result.h>

#include "secret_bytes.h"

namespace varve {

/// The key of the caller by which the content key of every entity is wrapped. Its id is stored with each entity, in
/// clear, and is what a reader finds it by. All members may be called from several threads at once. Source: C-20.
class KeyEncryptionKey {
 public:
  virtual ~KeyEncryptionKey() = default;

  /// At most kKeyIdBytesMax bytes of UTF-8.
  virtual std::string_view id() const noexcept = 0;
  /// How wrap() works: "A256KW", "RSA-OAEP". Stored with each entity; a reader refuses a key of another algorithm.
  virtual std::string_view algorithm() const noexcept = 0;
  /// `content_key` is 32 or 40 bytes. Errors: kUnsupported (this key can only unwrap, or not at all).
  virtual Result<std::string> wrap(const SecretBytes& content_key) const = 0;
  /// `wrapped` comes from outside and may be anything. Errors: kCorruption (it was not made by this key, or was
  /// changed), kUnsupported (this key can only wrap).
  virtual Result<SecretBytes> unwrap(std::string_view wrapped) const = 0;
};

/// The key with this id, or null where it is not known. Called from the thread that reads. An error ends the read.
using KeyResolver = std::function<Result<std::shared_ptr<const KeyEncryptionKey>>(std::string_view id)>;

/// Of KeyEncryptionKey::id(), in bytes.
inline constexpr std::size_t kKeyIdBytesMax = 1024;

/// A key in memory that wraps by AES key wrap with 256 bits (RFC 3394), called "A256KW".
/// Errors: kInvalidArgument (the key is not 32 bytes).
Result<std::shared_ptr<const KeyEncryptionKey>> make_aes_key(std::string id, SecretBytes key);

/// An RSA key that wraps by OAEP with SHA-1, as the name "RSA-OAEP" has always meant (RFC 7518, 4.3). `pem` is an
/// unencrypted private key, which can do both, or a public key, which can only wrap.
/// Errors: kInvalidArgument (it is no RSA key in PEM, or has below 2048 or above 16384 bits).
Result<std::shared_ptr<const KeyEncryptionKey>> make_rsa_key(std::string id, std::string_view pem);

}  // namespace varve
