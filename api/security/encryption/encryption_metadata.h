// SPDX-License-Identifier: Apache-2.0
// Owns: the two properties that tell how an entity was encrypted, as text.
// Must never: trust a byte of them: they come from the store, where others may have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <varve/result.h>

namespace varve {

/// String, JSON: the wrapped content key, by which key and how it was wrapped, the protocol and the IV. Source: C-23.
inline constexpr std::string_view kEncryptionMetadataName = "_ClientEncryptionMetadata1";
/// Binary, encrypted as a property of this name is: a JSON array of the names of the encrypted properties. Source:
/// C-23.
inline constexpr std::string_view kEncryptedNamesName = "_ClientEncryptionMetadata2";

/// How property values are encrypted.
enum class EncryptionProtocol : std::uint8_t {
  /// "2.0", AES_GCM_256, of this store: no byte of what was encrypted, of its metadata, its name or the entity's keys
  /// can
  /// be changed unseen.
  kAuthenticated,
  /// "1.0", AES_CBC_256, of the table service's classic client libraries. It hides values and no more: who can write to
  /// the table can change them unseen. For data shared with those libraries.
  kClassic,
};

struct EncryptionMetadata {
  EncryptionProtocol protocol = EncryptionProtocol::kAuthenticated;
  std::string key_id;
  std::string key_algorithm;
  /// Bytes, as KeyEncryptionKey::wrap() made them.
  std::string wrapped_key;
  /// 16 bytes.
  std::string iv;
  bool operator==(const EncryptionMetadata&) const = default;
};

/// Bytes of metadata that are looked at; what is longer is refused unread.
inline constexpr std::size_t kEncryptionMetadataBytesMax = 16'384;

/// Errors: kInvalidArgument (the key's id or algorithm is not UTF-8, is empty or too long; the wrapped key is too
/// long).
Result<std::string> format_encryption_metadata(const EncryptionMetadata& metadata);
/// Takes what the format says and nothing else: objects two deep, each member once, all that are needed and no others
/// (what KeyWrappingMetadata holds is passed over), base64 in its one form.
/// Errors: kCorruption (it is not so), kUnsupported (another protocol or content algorithm).
Result<EncryptionMetadata> parse_encryption_metadata(std::string_view json);

/// Names are UTF-8.
std::string format_encrypted_names(std::span<const std::string> names);
/// Errors: kCorruption (not an array of texts, a name twice or of a system property, more than an entity has).
Result<std::vector<std::string>> parse_encrypted_names(std::string_view json);

}  // namespace varve
