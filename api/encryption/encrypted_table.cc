// Owns: the choice which verbs encrypt, which decrypt, and which are refused.
#include "varve/encryption/encrypted_table.h"

#include <algorithm>
#include <utility>

namespace varve {
namespace {

using Kind = TransactionOperation::Kind;

Status merge_refused() {
  return Status::unsupported("an encrypted entity cannot be merged; replace it");
}

/// Adds the operation, with the encrypted entity.
Status add_operation(const TransactionOperation& operation, Entity entity, EntityGroupTransaction* out) {
  switch (operation.kind) {
    case Kind::kInsert: out->insert(std::move(entity)); return {};
    case Kind::kReplace: out->replace(std::move(entity), operation.if_match); return {};
    case Kind::kInsertOrReplace: out->insert_or_replace(std::move(entity)); return {};
    case Kind::kRemove: out->remove(entity.partition_key(), entity.row_key(), operation.if_match); return {};
    case Kind::kMerge:
    case Kind::kInsertOrMerge: break;
  }
  return merge_refused();
}

/// If names are selected, adds both names of the metadata.
ReadOptions with_metadata(const ReadOptions& options) {
  ReadOptions all = options;
  if (all.select.empty()) return all;
  for (const std::string_view name : {kEncryptionMetadataName, kEncryptedNamesName}) {
    if (std::find(all.select.begin(), all.select.end(), name) == all.select.end()) all.select.emplace_back(name);
  }
  return all;
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

Result<ETag> EncryptedTable::insert(const Entity& entity, const WriteOptions& options) {
  const Result<Entity> out = encrypted(entity);
  return out.ok() ? table_.insert(*out, options) : out.status();
}

Result<ETag> EncryptedTable::replace(const Entity& entity, ETag if_match, const WriteOptions& options) {
  const Result<Entity> out = encrypted(entity);
  return out.ok() ? table_.replace(*out, if_match, options) : out.status();
}

Result<ETag> EncryptedTable::insert_or_replace(const Entity& entity, const WriteOptions& options) {
  const Result<Entity> out = encrypted(entity);
  return out.ok() ? table_.insert_or_replace(*out, options) : out.status();
}

Result<ETag> EncryptedTable::merge(const Entity& /*entity*/, ETag /*if_match*/, const WriteOptions& /*options*/) {
  return merge_refused();
}

Result<ETag> EncryptedTable::insert_or_merge(const Entity& /*entity*/, const WriteOptions& /*options*/) {
  return merge_refused();
}

Status EncryptedTable::remove(std::string_view partition_key, std::string_view row_key, ETag if_match,
                              const WriteOptions& options) {
  return table_.remove(partition_key, row_key, if_match, options);
}

Result<std::vector<ETag>> EncryptedTable::execute(const EntityGroupTransaction& transaction,
                                                  const WriteOptions& options) {
  EntityGroupTransaction out;
  std::uint32_t index = 0;
  for (const TransactionOperation& operation : transaction.operations()) {
    Result<Entity> entity = operation.kind == Kind::kRemove ? operation.entity : encrypted(operation.entity);
    if (!entity.ok()) return entity.status().at_operation(index);
    if (Status added = add_operation(operation, *std::move(entity), &out); !added.ok())
      return added.at_operation(index);
    ++index;
  }
  return table_.execute(out, options);
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
