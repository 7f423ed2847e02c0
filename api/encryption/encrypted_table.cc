// Owns: the choice which verbs encrypt, which decrypt, and which are refused.
#include "varve/encryption/encrypted_table.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace varve {
namespace {

using Kind = WriteOperation::Kind;

/// If names are selected, adds both names of the metadata.
ReadOptions with_metadata(const ReadOptions& options) {
  ReadOptions all = options;
  if (all.select.empty()) return all;
  for (const std::string_view name : {kEncryptionMetadataName, kEncryptedNamesName}) {
    if (std::find(all.select.begin(), all.select.end(), name) == all.select.end()) all.select.emplace_back(name);
  }
  return all;
}

std::string condition_of(const WriteView& operation) {
  return operation.operation() != nullptr ? operation.operation()->condition : std::string();
}

}  // namespace

EncryptedTable::EncryptedTable(Table table, TableEncryption encryption)
    : table_(std::move(table)), encryption_(std::move(encryption)) {}

Result<Entity> EncryptedTable::encrypted(const Entity& entity) const {
  if (encryption_.key) {
    return encrypt(entity, encryption_.properties, *encryption_.key, {encryption_.protocol, encryption_.random});
  }
  if (encryption_.require_encryption) {
    return Status::invalid_argument("require_encryption is set and no key is given; give a key to write entities");
  }
  if (entity.find(kEncryptionMetadataName) != nullptr || entity.find(kEncryptedNamesName) != nullptr) {
    return Status::invalid_argument("the entity has a property whose name is reserved for encryption");
  }
  return entity;
}

Result<Entity> EncryptedTable::decrypted(const Entity& entity, bool is_projection) const {
  return decrypt(entity, {encryption_.resolver, encryption_.key}, {encryption_.require_encryption, is_projection});
}

/// Returns the operation on the entity as it is stored.
Result<WriteOperation> EncryptedTable::encrypted(const WriteView& operation) const {
  switch (operation.kind()) {
    case Kind::kMerge:
    case Kind::kInsertOrMerge: return Status::unsupported("an encrypted entity cannot be merged; replace it");
    case Kind::kPatch:
    case Kind::kInsertOrPatch: return Status::unsupported("an encrypted entity cannot be patched; replace it");
    case Kind::kRemove:
      return WriteOperation::remove(std::string(operation.partition_key()), std::string(operation.row_key()),
                                    operation.if_match())
          .only_if(condition_of(operation));
    case Kind::kInsert:
    case Kind::kReplace:
    case Kind::kInsertOrReplace: break;
  }
  Result<Entity> entity = encrypted(*operation.entity());
  if (!entity.ok()) return entity.status();
  return WriteOperation{operation.kind(), *std::move(entity), operation.if_match()}.only_if(condition_of(operation));
}

Result<ETag> EncryptedTable::write(const WriteView& operation, const WriteOptions& options) {
  const Result<WriteOperation> stored = encrypted(operation);
  return stored.ok() ? table_.write(*stored, options) : stored.status();
}

Result<std::vector<ETag>> EncryptedTable::execute(std::span<const WriteOperation> operations,
                                                  const WriteOptions& options) {
  EntityGroupTransaction stored;
  for (const WriteOperation& operation : operations) {
    Result<WriteOperation> one = encrypted(WriteView(operation));
    if (!one.ok()) return one.status().at_operation(static_cast<std::uint32_t>(stored.size()));
    stored.add(*std::move(one));
  }
  return table_.execute(stored, options);
}

Result<std::optional<Entity>> EncryptedTable::get(std::string_view partition_key, std::string_view row_key,
                                                  const ReadOptions& options) const {
  Result<std::optional<Entity>> stored = table_.get(partition_key, row_key, with_metadata(options));
  if (!stored.ok() || !stored->has_value()) return stored;
  Result<Entity> entity = decrypted(**stored, !options.select.empty());
  if (!entity.ok()) return entity.status();
  return std::optional<Entity>(*std::move(entity));
}

Result<std::vector<std::optional<Entity>>> EncryptedTable::get_many(std::span<const EntityKey> keys,
                                                                    const ReadOptions& options) const {
  Result<std::vector<std::optional<Entity>>> stored = table_.get_many(keys, with_metadata(options));
  if (!stored.ok()) return stored;
  for (std::optional<Entity>& found : *stored) {
    if (!found) continue;
    Result<Entity> entity = decrypted(*found, !options.select.empty());
    if (!entity.ok()) return entity.status();
    found = *std::move(entity);
  }
  return stored;
}

Result<Page> EncryptedTable::scan(const Scan& scan) const {
  if (!scan.order_by.empty()) {
    return Status::unsupported(
        "an encrypted table has no order but that of keys, because order_by would compare ciphertext; sort the "
        "entities "
        "after the scan, or order the entities as they are stored by the scan of table()");
  }
  Scan whole = scan;
  whole.read = with_metadata(scan.read);
  Result<Page> page = table_.scan(whole);
  if (!page.ok()) return page;
  for (Entity& found : page->entities) {
    Result<Entity> entity = decrypted(found, !scan.read.select.empty());
    if (!entity.ok()) return entity.status();
    found = *std::move(entity);
  }
  return page;
}

}  // namespace varve
