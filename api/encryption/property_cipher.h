// Owns: how one value of one entity is encrypted, by either protocol.
// Must never: use one content key for two entities.
#pragma once

#include <string>
#include <string_view>

#include "varve/encryption/encryption_metadata.h"
#include "varve/encryption/key_encryption_key.h"
#include "varve/encryption/secret_bytes.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve {

/// The cipher for the values of one entity. It holds the content key, and derives a nonce for each value from the IV
/// and the value's place. It keeps references to its arguments. `metadata` must be the text as it is stored.
///
/// Classic         IV = first 16 bytes of SHA-256(iv | RowKey | PartitionKey | name). Source: C-22.
/// Authenticated   Let f(x) be the length of x in 4 bytes, little-endian, followed by x. The associated bytes are
///                 f("2.0"), f(SHA-256 of the metadata's text), f(PartitionKey), f(RowKey), f(name). The nonce is the
///                 first 12 bytes of SHA-256(iv | associated bytes). A name occurs once in an entity, so no nonce
///                 occurs twice.
class PropertyCipher {
 public:
  PropertyCipher(EncryptionProtocol protocol, const SecretBytes& content_key, std::string_view iv,
                 std::string_view metadata, const Entity& entity) noexcept
      : protocol_(protocol), content_key_(content_key), iv_(iv), metadata_(metadata), entity_(entity) {}

  Result<std::string> encrypt(std::string_view name, std::string_view plain) const;
  /// Errors: kCorruption.
  Result<std::string> decrypt(std::string_view name, std::string_view stored) const;

 private:
  Result<std::string> classic_iv(std::string_view name) const;
  Result<std::string> associated(std::string_view name) const;
  Result<std::string> nonce(std::string_view associated) const;

  EncryptionProtocol protocol_;
  const SecretBytes& content_key_;
  std::string_view iv_;
  std::string_view metadata_;
  const Entity& entity_;
};

/// Returns the bytes to wrap: the content key. For the authenticated protocol, eight bytes before it name the protocol,
/// so that the key cannot be used with another protocol.
SecretBytes key_to_wrap(EncryptionProtocol protocol, const SecretBytes& content_key);
/// Returns the content key. Errors: kCorruption (it was not wrapped for this protocol).
Result<SecretBytes> content_key_of(EncryptionProtocol protocol, const SecretBytes& unwrapped);

}  // namespace varve
