// Owns: visiting an entity's properties, for encryption and for decryption.
#include "varve/encryption/entity_encryption.h"

#include <algorithm>
#include <utility>

#include "api/encryption/cipher.h"
#include "api/encryption/property_cipher.h"
#include "api/encryption/utf8.h"

namespace varve {
namespace {

bool is_metadata(std::string_view name) noexcept {
  return name == kEncryptionMetadataName || name == kEncryptedNamesName;
}

bool contains(const std::vector<std::string>& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Status of_entity(const Status& status, const Entity& entity) {
  return status.in_file("entity '" + entity.partition_key() + "', '" + entity.row_key() + "'");
}
Status of_property(const Status& status, std::string_view name) {
  return status.in_file("property '" + std::string(name) + "'");
}

Status check_names(const Entity& entity) {
  for (const Property& property : entity.properties()) {
    if (!is_metadata(property.name)) continue;
    return Status::invalid_argument("the property name '" + property.name + "' is reserved for encryption");
  }
  return {};
}

/// Returns an entity with the same keys and ETag, without properties.
Entity bare(const Entity& entity) {
  Entity copy(entity.partition_key(), entity.row_key());
  copy.set_etag(entity.etag());
  return copy;
}

Result<Entity> encrypt_properties(const Entity& entity, const std::vector<std::string>& names,
                                  const PropertyCipher& cipher, std::string metadata) {
  Entity out = bare(entity);
  for (const Property& property : entity.properties()) {
    if (!contains(names, property.name)) {
      out.add(property.name, property.value);
      continue;
    }
    Result<std::string> stored = cipher.encrypt(property.name, *property.value.get_if<std::string>());
    if (!stored.ok()) return of_property(stored.status(), property.name);
    out.add(property.name, Binary{*std::move(stored)});
  }
  Result<std::string> list = cipher.encrypt(kEncryptedNamesName, format_encrypted_names(names));
  if (!list.ok()) return list.status();
  out.add(std::string(kEncryptionMetadataName), std::move(metadata));
  out.add(std::string(kEncryptedNamesName), Binary{*std::move(list)});
  return out;
}

Result<Entity> encrypt_checked(const Entity& entity, const PropertyChoice& properties, const KeyEncryptionKey& key,
                               const EncryptOptions& options) {
  if (Status status = check_names(entity); !status.ok()) return status;
  const Result<std::vector<std::string>> names = properties.of(entity);
  if (!names.ok()) return names.status();

  RandomBytes& random = options.random != nullptr ? *options.random : system_random_bytes();
  SecretBytes content_key(kContentKeyBytes);
  SecretBytes iv(kCbcIvBytes);
  if (Status status = random.fill(content_key.bytes()); !status.ok()) return status;
  if (Status status = random.fill(iv.bytes()); !status.ok()) return status;

  EncryptionMetadata metadata;
  metadata.protocol = options.protocol;
  metadata.key_id = key.id();
  metadata.key_algorithm = key.algorithm();
  metadata.iv.assign(iv.bytes().begin(), iv.bytes().end());
  Result<std::string> wrapped = key.wrap(key_to_wrap(options.protocol, content_key));
  if (!wrapped.ok()) return wrapped.status();
  metadata.wrapped_key = *std::move(wrapped);
  Result<std::string> text = format_encryption_metadata(metadata);
  if (!text.ok()) return text.status();
  const std::string bound = *text;
  return encrypt_properties(entity, *names, {options.protocol, content_key, metadata.iv, bound, entity},
                            *std::move(text));
}

Result<std::shared_ptr<const KeyEncryptionKey>> find_key(const DecryptionKeys& keys,
                                                         const EncryptionMetadata& metadata) {
  std::shared_ptr<const KeyEncryptionKey> found;
  if (keys.resolver) {
    Result<std::shared_ptr<const KeyEncryptionKey>> resolved = keys.resolver(metadata.key_id);
    if (!resolved.ok()) return resolved;
    found = *std::move(resolved);
  }
  if (!found && keys.key && keys.key->id() == metadata.key_id) found = keys.key;
  if (!found) return Status::not_found("the key '" + metadata.key_id + "' that encrypted the entity was not given");
  if (found->algorithm() != metadata.key_algorithm) {
    return Status::unsupported("the content key was wrapped by '" + metadata.key_algorithm + "', but the key '" +
                               metadata.key_id + "' is for " + std::string(found->algorithm()));
  }
  return found;
}

Result<SecretBytes> unwrap(const DecryptionKeys& keys, const EncryptionMetadata& metadata) {
  const Result<std::shared_ptr<const KeyEncryptionKey>> key = find_key(keys, metadata);
  if (!key.ok()) return key.status();
  const Result<SecretBytes> unwrapped = (*key)->unwrap(metadata.wrapped_key);
  if (!unwrapped.ok()) return unwrapped.status();
  return content_key_of(metadata.protocol, *unwrapped);
}

Result<Value> decrypt_value(const PropertyCipher& cipher, const Property& property) {
  const auto* const stored = property.value.get_if<Binary>();
  if (stored == nullptr) return Status::corruption("is listed as encrypted, but is not of type Edm.Binary");
  Result<std::string> plain = cipher.decrypt(property.name, stored->bytes);
  if (!plain.ok()) return plain.status();
  if (!is_utf8(*plain)) return Status::corruption("does not decrypt to UTF-8");
  return Value(*std::move(plain));
}

/// Checks that no encrypted property is missing. Only the authenticated protocol promises this.
Status check_complete(const Entity& entity, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (entity.find(name) == nullptr)
      return of_property(Status::corruption("is listed as encrypted, but is absent"), name);
  }
  return {};
}

Result<Entity> decrypt_properties(const Entity& entity, const std::vector<std::string>& names,
                                  const PropertyCipher& cipher) {
  Entity out = bare(entity);
  for (const Property& property : entity.properties()) {
    if (is_metadata(property.name)) continue;
    if (!contains(names, property.name)) {
      out.add(property.name, property.value);
      continue;
    }
    Result<Value> value = decrypt_value(cipher, property);
    if (!value.ok()) return of_property(value.status(), property.name);
    out.add(property.name, *std::move(value));
  }
  return out;
}

Result<Entity> decrypt_with(const Entity& entity, const std::string& text, const std::string& list,
                            const DecryptionKeys& keys, const DecryptOptions& options) {
  const Result<EncryptionMetadata> metadata = parse_encryption_metadata(text);
  if (!metadata.ok()) return metadata.status();
  const Result<SecretBytes> content_key = unwrap(keys, *metadata);
  if (!content_key.ok()) return content_key.status();
  const PropertyCipher cipher(metadata->protocol, *content_key, metadata->iv, text, entity);

  const Result<std::string> plain_list = cipher.decrypt(kEncryptedNamesName, list);
  if (!plain_list.ok()) return of_property(plain_list.status(), kEncryptedNamesName);
  const Result<std::vector<std::string>> names = parse_encrypted_names(*plain_list);
  if (!names.ok()) return names.status();
  if (metadata->protocol == EncryptionProtocol::kAuthenticated && !options.is_projection) {
    if (Status status = check_complete(entity, *names); !status.ok()) return status;
  }
  return decrypt_properties(entity, *names, cipher);
}

}  // namespace

Result<Entity> encrypt(const Entity& entity, const PropertyChoice& properties, const KeyEncryptionKey& key,
                       const EncryptOptions& options) {
  Result<Entity> out = encrypt_checked(entity, properties, key, options);
  return out.ok() ? std::move(out) : of_entity(out.status(), entity);
}

Result<Entity> decrypt(const Entity& entity, const DecryptionKeys& keys, const DecryptOptions& options) {
  const Value* const metadata = entity.find(kEncryptionMetadataName);
  const Value* const list = entity.find(kEncryptedNamesName);
  if (metadata == nullptr && list == nullptr) {
    if (!options.require_encryption) return entity;
    return of_entity(Status::corruption("is not encrypted, but require_encryption is set"), entity);
  }
  const std::string* const text = metadata != nullptr ? metadata->get_if<std::string>() : nullptr;
  const Binary* const bytes = list != nullptr ? list->get_if<Binary>() : nullptr;
  if (text == nullptr || bytes == nullptr) {
    return of_entity(Status::corruption("has only one of the two properties of encryption metadata"), entity);
  }
  Result<Entity> out = decrypt_with(entity, *text, bytes->bytes, keys, options);
  return out.ok() ? std::move(out) : of_entity(out.status(), entity);
}

}  // namespace varve
