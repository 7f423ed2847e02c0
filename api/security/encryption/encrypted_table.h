// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs of a table whose entities are encrypted on their way in and decrypted on their way out.
// Must never: let a verb through that would leave an entity half encrypted.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <varve/table.h>

#include "entity_encryption.h"

namespace varve {

struct TableEncryption {
  /// Encrypts what is written, and decrypts what was written by it. Without one entities are written as they are.
  std::shared_ptr<const KeyEncryptionKey> key{};
  PropertyChoice properties{};
  /// Finds keys for reading; `key` is taken where it knows none.
  KeyResolver resolver{};
  /// Refuses to write without a key, and to read what is not encrypted.
  bool require_encryption = false;
  EncryptionProtocol protocol = EncryptionProtocol::kAuthenticated;
  /// Borrowed for as long as the table lives; see EncryptOptions::random.
  RandomBytes* random = nullptr;
};

/// A Table (its verbs mean what they mean there) that encrypts. Cheap to copy as a Table is, save for what the choice
/// of properties holds. May be used from several threads at once, if key, resolver and callback may.
///
///   Result<std::shared_ptr<const KeyEncryptionKey>> key = make_aes_key("key-2026", std::move(bytes));
///   EncryptedTable patients(*store->open_table("myaccount", "Patients"),
///                           {.key = *key, .properties = PropertyChoice::names({"Diagnosis"})});
///
/// A filter sees what is stored: conditions on encrypted properties never match their texts.
/// Errors   of writes, besides Table's: those of encrypt(); nothing changed
///          of reads, besides Table's: those of decrypt(), naming the entity; nothing is returned
///          of merge(), insert_or_merge() and transactions with either: kUnsupported; nothing changed. What is merged
///          would be encrypted by another key than what is there, which the store cannot know
/// Source   C-25.
class EncryptedTable {
 public:
  EncryptedTable(Table table, TableEncryption encryption);

  /// The table with its entities as they are stored.
  Table& table() noexcept { return table_; }
  const Table& table() const noexcept { return table_; }

  Result<ETag> insert(const Entity& entity, const WriteOptions& options = {});
  Result<ETag> replace(const Entity& entity, ETag if_match, const WriteOptions& options = {});
  Result<ETag> insert_or_replace(const Entity& entity, const WriteOptions& options = {});
  /// Both only say that they are refused.
  Result<ETag> merge(const Entity& entity, ETag if_match, const WriteOptions& options = {});
  Result<ETag> insert_or_merge(const Entity& entity, const WriteOptions& options = {});
  Status remove(std::string_view partition_key, std::string_view row_key, ETag if_match,
                const WriteOptions& options = {});
  /// Every entity has a content key and an IV of its own. Errors of encryption name the operation.
  Result<std::vector<ETag>> execute(const EntityGroupTransaction& transaction, const WriteOptions& options = {});

  /// A selection of names has room for 253: both parts of the metadata are read with it.
  Result<std::optional<Entity>> get(std::string_view partition_key, std::string_view row_key,
                                    const ReadOptions& options = {}) const;
  Result<std::vector<std::optional<Entity>>> get_many(std::span<const EntityKey> keys,
                                                      const ReadOptions& options = {}) const;
  Result<Page> scan(const Scan& scan) const;

 private:
  Result<Entity> encrypted(const Entity& entity) const;
  Result<Entity> decrypted(const Entity& entity, bool is_projection) const;

  Table table_;
  TableEncryption encryption_;
};

}  // namespace varve
