// Owns: the steps of a write from the caller's entity to the commit, for one operation and for a transaction.
// Must never: take a lock before all checks that need no lock, or return a refusal before the commit on which it rests
// is published.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "api/model/entity_codec.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"
#include "varve/transaction.h"
#include "varve/types.h"

namespace varve {

/// One operation, checked and encoded as far as possible without the table and the stored entity.
class PreparedWrite {
 public:
  /// Makes an operation without a value. Errors: those of format::append_sort_key().
  static Result<PreparedWrite> make(TransactionOperation::Kind kind, ETag if_match, std::string_view partition_key,
                                    std::string_view row_key, std::size_t value_bytes = 0);

  TransactionOperation::Kind kind = TransactionOperation::Kind::kInsert;
  ETag if_match;
  std::size_t accounted_key_bytes = 0;
  /// True for a delete whose key is too long to exist (D-12).
  bool key_too_long = false;

  // These views are valid until the part that they show is changed.
  std::string_view sort_key() const noexcept { return operation_.sort_key(); }
  /// The properties to store or to merge. After judging, they are the properties to store.
  std::string_view value() const noexcept { return operation_.value(); }
  const format::LoneOperation& operation() const noexcept { return operation_; }

  /// Writes the table's id into the space that the sort key has for it at its front.
  void set_table(std::string_view encoded_id) { operation_.set_table(encoded_id); }
  void set_value(std::string_view value) { operation_.set_value(value); }
  void set_value(const Entity& entity, const StoredSize& size, format::EntityBuilder& builder);
  /// Returns the operation as a batch. The object is empty afterwards.
  std::string into_batch() { return operation_.into_batch(); }

 private:
  format::LoneOperation operation_;
};

/// If the grant does not permit the operation, these calls fail before any other check. Errors: kForbidden,
/// kInvalidArgument, kTooLarge, as Table returns them for the operation.
Result<PreparedWrite> prepare_write(const Grant& grant, const TransactionOperation& operation,
                                    const StoreLimits& limits);
Result<PreparedWrite> prepare_put(const Grant& grant, TransactionOperation::Kind kind, const Entity& entity,
                                  ETag if_match, const StoreLimits& limits);
Result<PreparedWrite> prepare_remove(const Grant& grant, std::string_view partition_key, std::string_view row_key,
                                     ETag if_match, const StoreLimits& limits);
/// Prepares all operations of a transaction, and first checks the transaction as a whole. Errors: those of
/// Table::execute that need no store.
Result<std::vector<PreparedWrite>> prepare_transaction(const Grant& grant,
                                                       std::span<const TransactionOperation> operations,
                                                       const StoreLimits& limits);
/// Fills in the answer of each operation. `etags` has one element for each operation, because nothing may fail after
/// the commit.
void set_etags(std::span<const TransactionOperation> operations, ETag etag, std::span<ETag> etags) noexcept;

/// Encodes many inserts into one table, one after the other, and reuses its memory.
class InsertEncoder {
 public:
  InsertEncoder(format::TableId table, const StoreLimits& limits)
      : encoded_id_(format::encode_table(table)), limits_(limits) {}
  /// Encodes one entity. Errors: as prepare_put() for an insert. After an error, sort_key() and value() are
  /// unspecified.
  Status encode(const Entity& entity);
  // These views are valid until the next call of encode().
  std::string_view sort_key() const noexcept { return sort_key_; }
  std::string_view value() const noexcept { return value_; }

 private:
  const std::string encoded_id_;
  const StoreLimits limits_;
  format::EntityBuilder builder_;
  std::string sort_key_;
  std::string value_;
};

// -- The steps of a commit, for commits of more than one partition --------------------------------------------------

/// Checks the length of a tag. Errors: kInvalidArgument (InvalidInput: too long).
Status check_tag(std::string_view tag);
std::uint64_t bytes_of(std::span<const PreparedWrite> writes) noexcept;
/// The reason why an operation is refused, and the commit on which the refusal rests. The caller learns the refusal
/// after that commit is published.
struct Refusal {
  Status status;
  engine::CommitVersion rests_on = 0;
};
/// Returns the keys of the operations that depend on the stored entity. Read their newest states under their locks.
std::vector<std::string_view> keys_to_judge(std::span<const PreparedWrite> writes);
/// Returns the part of these states that must be read: if any operation is a merge, all of it.
engine::EntryPart part_to_judge(std::span<const PreparedWrite> writes) noexcept;
/// Judges every operation on these states, which are in the order of the keys. Replaces each merge with the properties
/// to store.
std::optional<Refusal> judge_states(std::span<PreparedWrite> writes, std::span<const engine::Newest> states,
                                    const StoreLimits& limits, bool in_transaction);
/// Reads the states and judges the operations, under the locks of their partitions and in a view made under these
/// locks. Do not hold a view across the commit: the view would keep memory for which the commit may wait. If an
/// operation is refused, the call releases the locks, and waits until the commit on which the refusal rests is
/// published.
Status judge_writes(StoreCore& core, const engine::ReadView& view, std::span<PreparedWrite> writes,
                    engine::PartitionGuard& guard, bool in_transaction);
std::string build_batch(std::span<const PreparedWrite> writes, std::string_view tag);
/// Returns whether the writes already have the layout of their batch: one write without a tag.
bool is_batch_already(std::span<const PreparedWrite> writes, std::string_view tag) noexcept;
/// Returns the batch like build_batch(), but without a copy if possible. The writes are empty afterwards.
std::string take_batch(std::span<PreparedWrite> writes, std::string_view tag);

/// Writes of one partition, prepared up to the point where the lock is taken.
struct PlacedWrites {
  engine::CommitRequest request;  // without a batch
  std::uint64_t partition_hash = 0;
  bool any_merge = false;
};
PlacedWrites place_writes(StoreCore& core, format::TableId table, std::span<PreparedWrite> writes,
                          const WriteOptions& options);
/// Returns the error for writes whose table was not found.
Status no_table_to_write(const Status& status, bool in_transaction);
/// Returns the error after judge_writes() has refused with kNotFound: either the entity is missing, or its table. The
/// table may have been dropped after its name was resolved, and its rows removed meanwhile. `now` is the id that the
/// name resolves to after the refusal.
Status not_found(const Status& refusal, const TableName& name, format::TableId table,
                 const Result<format::TableId>& now, bool in_transaction);
/// Returns the result of their commit.
Result<ETag> etag_of(const Result<engine::CommitVersion>& version, const TableName& name, bool in_transaction);

/// Commits all of `writes` or none, and returns the ETag of the written entities. All writes are of one partition and
/// of different entities. If `in_transaction` is true, errors name the operation. Errors: as Table returns them.
Result<ETag> commit_writes(StoreCore& core, const TableName& name, NameEntry& entry, std::span<PreparedWrite> writes,
                           const WriteOptions& options, bool in_transaction);

}  // namespace varve
