// SPDX-License-Identifier: Apache-2.0
// Owns: an entity with some of its texts encrypted, and back: pure functions.
// Must never: touch a store, or return an entity of which a part could not be decrypted.
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

/// Which properties of an entity are encrypted. Only String properties can be, and neither keys nor Timestamp.
/// Source: C-21.
class PropertyChoice {
 public:
  using Callback = std::function<bool(std::string_view partition_key, std::string_view row_key, std::string_view name)>;

  /// No property.
  PropertyChoice() = default;
  /// These, each of which every entity must have: a name that is spelt wrong must not leave a secret in clear.
  static PropertyChoice names(std::vector<std::string> names);
  /// Those for which `callback` says true. It is asked about each property of the entity, and must not throw.
  static PropertyChoice resolver(Callback callback);

  /// The names chosen. Errors: kInvalidArgument (a name of a system property, or one that is there twice; a property
  /// that is not a String, or not there).
  Result<std::vector<std::string>> of(const Entity& entity) const;

 private:
  std::vector<std::string> names_;
  Callback callback_;
};

struct EncryptOptions {
  EncryptionProtocol protocol = EncryptionProtocol::kAuthenticated;
  /// Borrowed for the call. Null takes system_random_bytes(). What it gives must never be the same twice, save in
  /// tests.
  RandomBytes* random = nullptr;
};

/// The entity with the chosen properties as Binary, and with two more that tell how to read them; 250 are left to the
/// caller. A content key and an IV are made for it, and kept nowhere else. Sizes grow: by up to 16 bytes a value, and a
/// text counts by its UTF-8 then; the table judges limits when the entity is written.
///
/// Errors   kInvalidArgument    as PropertyChoice::of(); the entity has a property named as the metadata is; a chosen
///                              text is not UTF-8; the key's id is too long
///          kTooLarge           a value of more than 16 MiB
///          what `key` and the source of randomness say
/// Source   C-20 to C-23, C-26.
Result<Entity> encrypt(const Entity& entity, const PropertyChoice& properties, const KeyEncryptionKey& key,
                       const EncryptOptions& options = {});

/// Where keys are found: `resolver` is asked first, if there is one; `key`, if there is one, is taken where its id is
/// the one that is looked for.
struct DecryptionKeys {
  KeyResolver resolver{};
  std::shared_ptr<const KeyEncryptionKey> key{};
};

struct DecryptOptions {
  /// Refuses an entity that is not encrypted.
  bool require_encryption = false;
  /// The entity may lack properties, since not all were asked for.
  bool is_projection = false;
};

/// The entity as it was before encrypt(), without the metadata. One that is not encrypted is returned as it is. Marks
/// are not needed: the entity says which of its properties are encrypted.
///
/// What is not detected, since each entity is encrypted alone: that somebody brought an older state of the whole entity
/// back, deleted it, or changed properties that are not encrypted.
///
/// Errors   kUnsupported    the protocol or the way of wrapping is not known
///          kNotFound       the key is not known
///          kCorruption     metadata or values are damaged, or were changed; the entity is not encrypted though that is
///                          required
///          what the resolver and the key say
/// Source   C-24.
Result<Entity> decrypt(const Entity& entity, const DecryptionKeys& keys, const DecryptOptions& options = {});

}  // namespace varve
