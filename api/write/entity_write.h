// Owns: the way of a write from the caller's entity to the commit, for one operation and for a transaction alike.
// Must never: take a lock before everything is checked that can be checked without one, or tell a refusal before the
// commit it rests on is published.
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

/// One operation, checked and encoded as far as that needs neither the table nor what is stored.
class PreparedWrite {
 public:
  /// Without a value. Errors: those of format::append_sort_key().
  static Result<PreparedWrite> make(TransactionOperation::Kind kind, ETag if_match, std::string_view partition_key,
                                    std::string_view row_key, std::size_t value_bytes = 0);

  TransactionOperation::Kind kind = TransactionOperation::Kind::kInsert;
  ETag if_match;
  std::size_t accounted_key_bytes = 0;
  /// Deletes by a key that is too long to be there (D-12).
  bool key_too_long = false;

  // Valid until what they say is changed.
  std::string_view sort_key() const noexcept { return operation_.sort_key(); }
  /// The properties to be stored, or to be merged; in the end those to be stored.
  std::string_view value() const noexcept { return operation_.value(); }
  const format::LoneOperation& operation() const noexcept { return operation_; }

  /// The sort key is made with room for the table's id at its front.
  void set_table(std::string_view encoded_id) { operation_.set_table(encoded_id); }
  void set_value(std::string_view value) { operation_.set_value(value); }
  void set_value(const Entity& entity, const StoredSize& size, format::EntityBuilder& builder);
  /// Nothing is left to be said.
  std::string into_batch() { return operation_.into_batch(); }

 private:
  format::LoneOperation operation_;
};

/// What the grant does not include is refused before all else. Errors: kForbidden, kInvalidArgument, kTooLarge, as the
/// verbs of Table have them.
Result<PreparedWrite> prepare_write(const Grant& grant, const TransactionOperation& operation,
                                    const StoreLimits& limits);
Result<PreparedWrite> prepare_put(const Grant& grant, TransactionOperation::Kind kind, const Entity& entity,
                                  ETag if_match, const StoreLimits& limits);
Result<PreparedWrite> prepare_remove(const Grant& grant, std::string_view partition_key, std::string_view row_key,
                                     ETag if_match, const StoreLimits& limits);
/// All of a transaction, judged as a whole first. Errors: as Table::execute, as far as they need no store.
Result<std::vector<PreparedWrite>> prepare_transaction(const Grant& grant,
                                                       std::span<const TransactionOperation> operations,
                                                       const StoreLimits& limits);
/// What each of its operations is answered. `etags` is as long as they are: once there is a commit, nothing may fail.
void set_etags(std::span<const TransactionOperation> operations, ETag etag, std::span<ETag> etags) noexcept;

/// Many inserts into one table, one after the other: memory is used again.
class InsertEncoder {
 public:
  InsertEncoder(format::TableId table, const StoreLimits& limits)
      : encoded_id_(format::encode_table(table)), limits_(limits) {}
  /// Errors: as prepare_put() for an insert; sort_key() and value() say nothing then.
  Status encode(const Entity& entity);
  // Valid until the next call of encode().
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

/// Errors: kInvalidArgument (InvalidInput: too long).
Status check_tag(std::string_view tag);
std::uint64_t bytes_of(std::span<const PreparedWrite> writes) noexcept;
/// Why an operation may not go on, and the commit that says so, after whose publication it is told.
struct Refusal {
  Status status;
  engine::CommitVersion rests_on = 0;
};
/// The keys of the operations that rest on what is stored, whose newest states are to be read under their locks.
std::vector<std::string_view> keys_to_judge(std::span<const PreparedWrite> writes);
/// What must be known of those states: all of them where something is to be merged.
engine::EntryPart part_to_judge(std::span<const PreparedWrite> writes) noexcept;
/// Judges every operation on those states, given in the order of the keys, and turns merges into what is to be stored.
std::optional<Refusal> judge_states(std::span<PreparedWrite> writes, std::span<const engine::Newest> states,
                                    const StoreLimits& limits, bool in_transaction);
/// All of it, under the locks of their partitions and in a view made under them. No view may be held across the commit:
/// it would keep memory that the commit may wait for. A refusal lets go of the locks, and waits for the publication of
/// what it rests on.
Status judge_writes(StoreCore& core, const engine::ReadView& view, std::span<PreparedWrite> writes,
                    engine::PartitionGuard& guard, bool in_transaction);
std::string build_batch(std::span<const PreparedWrite> writes, std::string_view tag);
/// Whether they are laid out as the batch that they make: a lone one without a tag.
bool is_batch_already(std::span<const PreparedWrite> writes, std::string_view tag) noexcept;
/// The same as build_batch(), then without a copy; the writes are used up.
std::string take_batch(std::span<PreparedWrite> writes, std::string_view tag);

/// Writes of one partition, as they stand before the lock.
struct PlacedWrites {
  engine::CommitRequest request;  // without a batch
  std::uint64_t partition_hash = 0;
  bool any_merge = false;
};
PlacedWrites place_writes(StoreCore& core, format::TableId table, std::span<PreparedWrite> writes,
                          const WriteOptions& options);
/// Why the table of the writes was not found.
Status no_table_to_write(const Status& status, bool in_transaction);
/// What is not there, where judge_writes() refused with kNotFound: the entity, or its table, which may have been
/// dropped since its name was resolved, with the rows taken out meanwhile. `now` is what the name resolves to since
/// then.
Status not_found(const Status& refusal, const TableName& name, format::TableId table,
                 const Result<format::TableId>& now, bool in_transaction);
/// What the commit of them came to.
Result<ETag> etag_of(const Result<engine::CommitVersion>& version, const TableName& name, bool in_transaction);

/// Writes all of `writes`, which are of one partition and of different entities, or nothing; returns the ETag of what
/// was written. With `in_transaction` errors name the operation. Errors: as the verbs of Table.
Result<ETag> commit_writes(StoreCore& core, const TableName& name, NameEntry& entry, std::span<PreparedWrite> writes,
                           const WriteOptions& options, bool in_transaction);

}  // namespace varve
