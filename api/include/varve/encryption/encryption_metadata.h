// SPDX-License-Identifier: Apache-2.0
// Owns: the two properties that describe how an entity was encrypted, as text.
// Must never: trust a byte of them. They come from the store, where others may have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <varve/result.h>

namespace varve {

/// A String with JSON: the wrapped content key, the id and algorithm of the key that wrapped it, the protocol and the
/// IV. Source: C-23.
inline constexpr std::string_view kEncryptionMetadataName = "_ClientEncryptionMetadata1";
/// A Binary, encrypted like a property of this name: a JSON array of the names of the encrypted properties. Source:
/// C-23.
inline constexpr std::string_view kEncryptedNamesName = "_ClientEncryptionMetadata2";

/// How property values are encrypted.
enum class EncryptionProtocol : std::uint8_t {
  /// "2.0" with AES_GCM_256, this project's own protocol. It detects every change to an encrypted value, its property
  /// name, the metadata and the entity's keys.
  kAuthenticated,
  /// "1.0" with AES_CBC_256, the protocol of the table service's classic client libraries. It only hides values: anyone
  /// who can write to the table can change them undetected. Use it for data that those libraries share.
  kClassic,
};

/// The content of the property kEncryptionMetadataName.
struct EncryptionMetadata {
  /// The protocol of the encrypted properties.
  EncryptionProtocol protocol = EncryptionProtocol::kAuthenticated;
  /// KeyEncryptionKey::id() of the key that wrapped the content key: 1 to kKeyIdBytesMax bytes of UTF-8.
  std::string key_id;
  /// KeyEncryptionKey::algorithm() of that key: 1 to 64 bytes of UTF-8.
  std::string key_algorithm;
  /// The bytes that KeyEncryptionKey::wrap() returned: 1 to 4096 of them.
  std::string wrapped_key;
  /// The initialization vector: 16 bytes.
  std::string iv;
  bool operator==(const EncryptionMetadata&) const = default;
};

/// Maximum size of the metadata, in bytes. Longer metadata is refused unread.
inline constexpr std::size_t kEncryptionMetadataBytesMax = 16'384;

/// Returns the metadata as JSON. Errors: kInvalidArgument (the key's id or algorithm is not UTF-8, empty or too long;
/// the wrapped key is empty or too long).
Result<std::string> format_encryption_metadata(const EncryptionMetadata& metadata);
/// Parses the metadata strictly. It must be an object whose members are texts or objects of texts. Each required member
/// occurs once, no other member occurs, and base64 has its one form. The content of KeyWrappingMetadata is ignored.
/// Errors: kCorruption (the text breaks these rules), kUnsupported (another protocol or content algorithm).
Result<EncryptionMetadata> parse_encryption_metadata(std::string_view json);

/// Returns the names, which must be UTF-8, as a JSON array.
std::string format_encrypted_names(std::span<const std::string> names);
/// Parses the names.
/// Errors: kCorruption (not an array of texts; an empty name, a name twice, the name of a system property or of the
/// metadata; more names than an entity has properties).
Result<std::vector<std::string>> parse_encrypted_names(std::string_view json);

}  // namespace varve
