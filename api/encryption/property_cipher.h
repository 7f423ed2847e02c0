// Owns: how one value of one entity is encrypted, by either protocol.
// Must never: use one content key for two entities.
#pragma once

#include <string>
#include <string_view>

#include <varve/result.h>
#include <varve/types.h>

#include "encryption_metadata.h"
#include "key_encryption_key.h"
#include "secret_bytes.h"

namespace varve {

/// The cipher of the values of one entity: its content key, and what makes each value's nonce and binds it to its
/// place. Keeps references: to the metadata's text too, which must be the text as it is stored.
///
/// Classic         IV = first 16 bytes of SHA-256(iv | RowKey | PartitionKey | name). Source: C-22.
/// Authenticated   with f(x) = length of x in 4 bytes, little-endian, and x: the associated bytes are f("2.0"),
///                 f(SHA-256 of the metadata's text), f(PartitionKey), f(RowKey), f(name); the nonce is the first 12
///                 bytes of SHA-256(iv | associated bytes). A name occurs once in an entity, so no nonce does twice.
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

/// What is wrapped: the content key, for the authenticated protocol behind eight bytes that name it, so that nobody can
/// have it used by another protocol.
SecretBytes key_to_wrap(EncryptionProtocol protocol, const SecretBytes& content_key);
/// Errors: kCorruption (it was not wrapped for this protocol).
Result<SecretBytes> content_key_of(EncryptionProtocol protocol, const SecretBytes& unwrapped);

}  // namespace varve
