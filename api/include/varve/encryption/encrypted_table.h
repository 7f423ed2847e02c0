// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs of a table that encrypts entities when they are written and decrypts them when they are read.
// Must never: accept a verb that would leave an entity half encrypted.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <varve/table.h>

#include "entity_encryption.h"

namespace varve {

/// How an EncryptedTable encrypts and decrypts.
struct TableEncryption {
  /// Encrypts new entities, and decrypts the entities that it encrypted. If null, entities are written unencrypted.
  std::shared_ptr<const KeyEncryptionKey> key{};
  /// The properties that writes encrypt. By default, none.
  PropertyChoice properties{};
  /// Finds keys for reads. If it does not know a key, `key` is used, provided that its id matches.
  KeyResolver resolver{};
  /// Refuses a write without a key (kInvalidArgument), and a read of an entity that is not encrypted.
  bool require_encryption = false;
  /// The protocol of writes. Reads accept both protocols.
  EncryptionProtocol protocol = EncryptionProtocol::kAuthenticated;
  /// Borrowed as long as the table exists; see EncryptOptions::random.
  RandomBytes* random = nullptr;
};

/// A Table that encrypts. Its verbs do what the verbs of Table do. A copy is as cheap as that of a Table, plus the
/// choice of properties. Several threads may use it at once, if they may use the key, the resolver and the callback at
/// once.
///
///   Result<std::shared_ptr<const KeyEncryptionKey>> key = make_aes_key("key-2026", std::move(bytes));
///   EncryptedTable patients(*store->open_table("myaccount", "Patients"),
///                           {.key = *key, .properties = PropertyChoice::names({"Diagnosis"})});
///
/// A filter compares stored values: a condition on an encrypted property never matches its text. An index of an encrypted
/// property would have no use for the same reason: its entries hold ciphertext.
///
/// Errors besides those of Table:
///   writes     those of encrypt(); kInvalidArgument (no key although encryption is required; or the entity has a
///              property named as the metadata is); nothing changed
///   reads      those of decrypt(); the message names the entity; nothing is returned
///   merges     merge(), insert_or_merge(), patches and transactions with one of them return kUnsupported; nothing
///              changed. A merge would encrypt its properties with another content key than the stored ones, which the
///              store cannot know.
///   orders     a scan with Scan::order_by returns kUnsupported: it would compare ciphertext
/// Source: C-25.
class EncryptedTable {
 public:
  /// Makes an encrypting handle of this table. Does not read the table, and calls neither key nor resolver.
  EncryptedTable(Table table, TableEncryption encryption);

  /// Returns the table with its entities as they are stored.
  /// @{
  Table& table() & noexcept { return table_; }
  const Table& table() const& noexcept { return table_; }
  Table table() && noexcept { return std::move(table_); }
  /// @}

  /// Encrypts the entity of the operation, does Table::write(), and returns the new ETag; kRemove has none. A remove
  /// needs no encryption key. A merge or a patch always returns kUnsupported.
  Result<ETag> write(const WriteView& operation, const WriteOptions& options = {});
  /// Does the write of the same name of Table, through write().
  /// @{
  Result<ETag> insert(const Entity& entity, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kInsert, entity, ETag()}, options);
  }
  Result<ETag> replace(const Entity& entity, ETag if_match, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kReplace, entity, if_match}, options);
  }
  Result<ETag> merge(const Entity& entity, ETag if_match, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kMerge, entity, if_match}, options);
  }
  Result<ETag> insert_or_replace(const Entity& entity, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kInsertOrReplace, entity, ETag()}, options);
  }
  Result<ETag> insert_or_merge(const Entity& entity, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kInsertOrMerge, entity, ETag()}, options);
  }
  Status remove(std::string_view partition_key, std::string_view row_key, ETag if_match,
                const WriteOptions& options = {}) {
    return write(WriteView::remove(partition_key, row_key, if_match), options).status();
  }
  /// @}
  /// Encrypts each entity with its own content key and IV. An error of encryption has the index of its operation.
  Result<std::vector<ETag>> execute(std::span<const WriteOperation> operations, const WriteOptions& options = {});

  /// Does Table::get() and decrypts the entity. `options.select` holds at most 253 names: both parts of the metadata
  /// are read with them.
  Result<std::optional<Entity>> get(std::string_view partition_key, std::string_view row_key,
                                    const ReadOptions& options = {}) const;
  /// Does Table::get_many() and decrypts the entities. `options.select` is limited as in get().
  Result<std::vector<std::optional<Entity>>> get_many(std::span<const EntityKey> keys,
                                                      const ReadOptions& options = {}) const;
  /// Does Table::scan() and decrypts the entities of the page. `scan.read.select` is limited as in get().
  Result<Page> scan(const Scan& scan) const;

 private:
  Result<Entity> encrypted(const Entity& entity) const;
  Result<WriteOperation> encrypted(const WriteView& operation) const;
  Result<Entity> decrypted(const Entity& entity, bool is_projection) const;

  Table table_;
  TableEncryption encryption_;
};

}  // namespace varve
