// Owns: the checks and the encoding of a write that need neither the table nor the stored entity.
// Must never: take a lock, or read anything.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/catalog/index_rows.h"
#include "api/core/table_access.h"
#include "api/model/entity_codec.h"
#include "api/write/write_terms.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"
#include "varve/store_limits.h"
#include "varve/table_expiry.h"
#include "varve/transaction.h"
#include "varve/types.h"

namespace varve {

/// Returns whether the operation has a condition on the stored ETag. Only such an operation may have a filter too.
inline bool needs_etag(WriteOperation::Kind kind) noexcept {
  using Verb = WriteOperation::Kind;
  return kind == Verb::kReplace || kind == Verb::kMerge || kind == Verb::kRemove || kind == Verb::kPatch;
}
/// Returns whether the operation keeps stored properties.
inline bool merges(WriteOperation::Kind kind) noexcept {
  using Verb = WriteOperation::Kind;
  return kind == Verb::kMerge || kind == Verb::kInsertOrMerge || patches(kind);
}

/// One operation, checked and encoded as far as possible without the table and the stored entity.
class PreparedWrite {
 public:
  /// Takes over the kind, the ETag and the keys. The operation has no value then, but room for one. Errors: those of
  /// format::append_sort_key().
  Status begin(const WriteView& write, std::size_t value_bytes = 0);

  WriteOperation::Kind kind = WriteOperation::Kind::kInsert;
  ETag if_match;
  /// Known of a write that keeps stored properties.
  std::size_t accounted_key_bytes = 0;
  /// True for a delete whose key is too long to exist (D-12).
  bool key_too_long = false;
  /// Whether the caller gave a LargeValue to the entity.
  bool has_large_values = false;
  /// Whether a refusal may show the keys of another entity.
  bool may_see_others = false;
  /// The rule of the table by which the entity ends, which outlives the write's use. Null: the entity has no end.
  const TableExpiry* expiry = nullptr;
  /// The condition and the changes of a patch. Null for other writes without a condition. All copies share it.
  std::shared_ptr<WriteTerms> terms;
  /// The indexes of the table, which outlive the write's use. Null: the table never had one.
  const TableIndexes* indexes = nullptr;

  // These views are valid until the part that they show is changed.
  std::string_view sort_key() const noexcept { return operation_.sort_key(); }
  /// The properties to store, to merge, or to set by a patch. After judging, they are the properties to store.
  std::string_view value() const noexcept { return operation_.value(); }
  const format::LoneOperation& operation() const noexcept { return operation_; }

  /// Writes the table's id into the space that the sort key has for it at its front.
  void set_table(std::string_view encoded_id) noexcept { operation_.set_table(encoded_id); }
  void set_value(std::string_view value) { operation_.set_value(value); }
  /// Gives the operation the end that the rule makes of its value, or none. A remove has none.
  void apply_expiry();
  /// Returns whether apply_expiry() may change the operation.
  bool may_have_end() const noexcept { return expiry != nullptr || operation_.has_end(); }
  void set_value(const Entity& entity, const StoredSize& size);
  /// Returns the operation as a batch. The object is empty afterwards.
  std::string into_batch() { return operation_.into_batch(); }

 private:
  format::LoneOperation operation_;
};

/// If the grant does not permit the operation, the call fails before any other check. Errors: kForbidden,
/// kInvalidArgument, kTooLarge, as Table returns them for the operation.
Result<PreparedWrite> prepare_write(const Grant& grant, const WriteView& operation, const StoreLimits& limits);
/// Prepares all operations of a transaction, and first checks the transaction as a whole. Errors: those of
/// Table::execute that need no store.
Result<std::vector<PreparedWrite>> prepare_transaction(const Grant& grant, std::span<const WriteOperation> operations,
                                                       const StoreLimits& limits);
/// Fills in the answer of each operation. `etags` has one element for each operation, because nothing may fail after
/// the commit.
void set_etags(std::span<const WriteOperation> operations, ETag etag, std::span<ETag> etags) noexcept;

/// Makes room in `patched` for the entities after the patches, because nothing may fail after the commit.
void reserve_patched(std::span<const PreparedWrite> writes, std::vector<Entity>& patched);
/// Appends the entities after the patches, in their order. They were committed with this ETag.
void take_patched(std::span<const PreparedWrite> writes, ETag etag, std::vector<Entity>& patched) noexcept;

/// Checks the length of a tag. Errors: kInvalidArgument (InvalidInput: too long).
Status check_tag(std::string_view tag);

/// Encodes many inserts into one table, one after the other, and reuses its memory.
class InsertEncoder {
 public:
  /// All entities get `version`. By `expiry`, which may be nothing, they end.
  InsertEncoder(format::TableId table, const StoreLimits& limits, format::CommitVersion version,
                std::optional<TableExpiry> expiry)
      : encoded_id_(format::encode_table(table)), limits_(limits), version_(version), expiry_(std::move(expiry)) {}
  /// Encodes one entity. Errors: as prepare_write() for an insert. After an error, sort_key() and value() are
  /// unspecified.
  Status encode(const Entity& entity);
  /// Encodes one entity with this end, or without an end if it is zero, whatever `expiry` is. Errors: as encode().
  Status encode_with_end(const Entity& entity, std::uint64_t end);
  // These views are valid until the next call of encode().
  std::string_view sort_key() const noexcept { return sort_key_; }
  /// The value of a kPutExpiring begins with its end.
  std::string_view value() const noexcept { return kind_ == format::Kind::kPut ? value_ : value_with_end_; }
  format::Kind kind() const noexcept { return kind_; }

 private:
  Status encode_keys_and_value(const Entity& entity);
  /// Sets an end or an age, or neither: zero.
  void set_end(std::uint64_t end);

  const std::string encoded_id_;
  const StoreLimits limits_;
  const format::CommitVersion version_;
  const std::optional<TableExpiry> expiry_;
  format::EntityBuilder builder_;
  std::string sort_key_;
  std::string value_;
  std::string value_with_end_;
  format::Kind kind_ = format::Kind::kPut;
};

}  // namespace varve
