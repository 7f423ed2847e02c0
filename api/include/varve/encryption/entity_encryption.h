// SPDX-License-Identifier: Apache-2.0
// Owns: encryption and decryption of single properties of an entity, as pure functions.
// Must never: access a store, or return an entity of which a part could not be decrypted.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <varve/result.h>
#include <varve/types.h>

#include "encryption_metadata.h"
#include "key_encryption_key.h"
#include "random_bytes.h"

namespace varve {

/// The choice of the properties to encrypt. Only String properties can be encrypted, never the keys or the Timestamp.
/// Source: C-21.
class PropertyChoice {
 public:
  /// Decides whether to encrypt the property `name` of the entity with these keys.
  using Callback = std::function<bool(std::string_view partition_key, std::string_view row_key, std::string_view name)>;

  /// Chooses no property.
  PropertyChoice() = default;
  /// Chooses these properties. Every entity must have each of them, so that a misspelt name cannot leave a secret
  /// unencrypted.
  static PropertyChoice names(std::vector<std::string> names);
  /// Chooses the properties for which `callback` returns true. It is called for each property of the entity and must
  /// not throw.
  static PropertyChoice resolver(Callback callback);

  /// Returns the names of the chosen properties. Errors: kInvalidArgument (a system property is chosen, or a property
  /// twice; a property is missing, occurs twice or is not a String; its name or text is not UTF-8).
  Result<std::vector<std::string>> of(const Entity& entity) const;

 private:
  std::vector<std::string> names_;
  Callback callback_;
};

/// Options of encrypt().
struct EncryptOptions {
  /// The protocol to encrypt with.
  EncryptionProtocol protocol = EncryptionProtocol::kAuthenticated;
  /// Borrowed for the call. Null uses system_random_bytes(). Except in tests, the source must never give the same bytes
  /// twice.
  RandomBytes* random = nullptr;
};

/// Returns the entity with the chosen properties encrypted as Binary, and with two metadata properties. So at most 250
/// properties are left to the caller. Creates a content key and an IV for the entity, and stores them only in it. A
/// value grows by up to 16 bytes, and a text counts with its UTF-8 bytes. The table checks its limits when the entity
/// is written.
/// Errors:
///   kInvalidArgument  as PropertyChoice::of(); a property is named as the metadata is; the key's id is too long
///   kTooLarge         a value of more than 16 MiB
///   and the errors of `key` and of the random source
/// Source: C-20 to C-23, C-26.
Result<Entity> encrypt(const Entity& entity, const PropertyChoice& properties, const KeyEncryptionKey& key,
                       const EncryptOptions& options = {});

/// The keys for decryption. `resolver`, if set, is called first. If it returns no key, `key` is used, provided that its
/// id matches.
struct DecryptionKeys {
  /// Finds a key by its id. May be empty.
  KeyResolver resolver{};
  /// The key to use if `resolver` gives none. May be null.
  std::shared_ptr<const KeyEncryptionKey> key{};
};

/// Options of decrypt().
struct DecryptOptions {
  /// Refuses an entity that is not encrypted.
  bool require_encryption = false;
  /// True if the entity may lack properties because the read selected some names only.
  bool is_projection = false;
};

/// Returns the entity as it was before encrypt(), without the metadata. An entity without metadata is returned
/// unchanged. The caller need not choose properties: the entity itself lists its encrypted ones.
///
/// Each entity is encrypted alone. So decrypt() cannot detect that another writer restored an older state of the whole
/// entity, deleted it, or changed properties that are not encrypted.
/// Errors:
///   kUnsupported    the protocol or the wrapping algorithm is not known
///   kNotFound       the key is not known
///   kCorruption     metadata or values are damaged or were changed; or the entity is not encrypted although this is
///                   required
///   and the errors of the resolver and of the key
/// Source: C-24.
Result<Entity> decrypt(const Entity& entity, const DecryptionKeys& keys, const DecryptOptions& options = {});

}  // namespace varve
