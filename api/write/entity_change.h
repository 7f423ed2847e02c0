// Owns: a change of entities, in the form that the drivers of a commit take: what it locks, how it is judged, its batch.
// Must never: wait, or be judged twice.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/commit/commit.h"
#include "api/core/store_core.h"
#include "api/write/entity_write.h"
#include "format/keys/batch.h"
#include "varve/options.h"
#include "varve/result.h"

namespace varve {

/// The place where a feature of the store adds operations to the batches of writes.
class Extension {
 public:
  virtual ~Extension() = default;
  /// Called for each operation of a change, in their order, after the whole change was judged. May add puts and removes
  /// to the batch, or refuse the change. `before` is the newest state before the change. It is null if no condition
  /// depends on that state, and needs_state_of() is false: then it was not read. `after` has the operation's key, and
  /// the properties that it stores.
  virtual Refusal extend(const engine::Newest* before, const PreparedWrite& after, format::BatchBuilder& batch) = 0;
  /// Called once, after the last operation.
  virtual Refusal finish(const engine::ReadView& /*view*/, format::BatchBuilder& /*batch*/) { return {}; }
  /// Returns whether extend() needs the state before this operation, also if no condition depends on it. The answer
  /// depends on the operation's key alone.
  virtual bool needs_state_of(const PreparedWrite& /*write*/) const noexcept { return false; }
  /// Returns whether extend() needs the values of the states.
  virtual bool needs_values() const noexcept { return true; }
};

/// The change by prepared writes of one partition. A write may be part of the batch without a copy, and is empty then.
class EntityChange : public Change {
 public:
  /// kKept leaves the writes as they are, so that another attempt can be made with them.
  enum class Writes : std::uint8_t { kUsedUp, kKept };

  /// The sort keys of the writes have the ids of `tables`. The writes, and the bytes of the tag, outlive the object.
  /// There may be no write only if an extension adds operations. If a table has a unique index, locks_needed() has the
  /// locks of append_value_locks() too, in ascending order.
  EntityChange(StoreCore& core, std::vector<format::TableId> tables, std::span<PreparedWrite> writes,
               const WriteOptions& options, bool in_transaction, Writes after = Writes::kUsedUp,
               Extension* extension = nullptr);

  std::span<const std::uint64_t> locks_needed() const noexcept override { return {&partition_hash_, 1}; }
  /// A row is enough for one write that nothing extends, unless a derived class locks more than the write's partition.
  std::optional<std::uint64_t> row_needed() const noexcept override;
  StatesWanted states_wanted() override;
  /// Replaces each merge with the properties to store.
  Refusal judge(const engine::ReadView& view, std::span<const engine::Newest> states) override;
  std::string take_batch() override;

 protected:
  /// Notes a state on which the change rests. If its entity is there and will end, the commit must come before that.
  void rest_on(const engine::Newest& state) noexcept;
  /// Notes that the commit must come before this end of an entity; zero is no end.
  void rest_on_end(engine::CommitVersion end) noexcept;

 private:
  /// Notes the indexes of the writes' tables: which ones the commit is made for, and whether there are any.
  void note_indexes();
  /// Returns whether the newest state of the operation's entity is read.
  bool reads_state(const PreparedWrite& write) const noexcept;
  Refusal judge_all(std::span<const engine::Newest> states);
  Refusal extend(const engine::ReadView& view, std::span<const engine::Newest> states);

  const StoreLimits& limits_;
  std::vector<PreparedWrite> copies_;
  std::span<PreparedWrite> writes_;
  std::string_view only_key_;
  std::vector<std::string_view> keys_;  // of several writes
  const std::string_view tag_;
  Extension* const extension_;
  std::uint64_t partition_hash_ = 0;
  const bool in_transaction_;
  bool any_merge_ = false;
  bool any_condition_ = false;
  bool any_end_ = false;
  bool any_index_ = false;
  std::string batch_;  // empty until it is built
};

/// Writes the table's id into the sort keys, and gives the writes the table's rule and indexes. `table` outlives them.
void place_writes(std::span<PreparedWrite> writes, const WriteTarget& table);
/// Returns whether commit_owning_writes() must commit the writes (group_change.h).
bool must_count_owners(const WriteTarget& table, std::span<const PreparedWrite> writes) noexcept;
/// Returns whether the table of a write has a unique index. The writes were placed.
bool may_give_values(std::span<const PreparedWrite> writes) noexcept;
/// Appends the hashes of the locks of the values that the writes give to entities in unique indexes. If a value depends on a
/// stored entity, reads the entity without its lock. Another state under the lock may need other locks; then the commit is
/// refused, and is_made_for_other_indexes() holds. The writes were placed. Errors: those of reading.
Status append_value_locks(StoreCore& core, std::span<const PreparedWrite> writes, std::vector<std::uint64_t>& hashes);
/// Returns the error for writes whose table was not found.
Status no_table_to_write(const Status& status, bool in_transaction);
/// Returns whether the state of an entity refused a change, or that of the contents that it owns. After a drop of the
/// table, the state may be any earlier one, or none: flushes and compactions remove rows of a dropped table in any order.
/// So such a refusal holds only if the table's name still has the same id afterwards.
bool rests_on_an_entity(const Status& failure) noexcept;
/// Returns whether the engine refused a batch for its size: the failure has no error string. The limits of the table model
/// refuse nearly all such batches before.
bool is_batch_too_large(const Status& failure) noexcept;
/// Returns such a failure with the error string of the table model.
Status with_limit_named(const Status& failure);
/// Returns whether the commit was refused because the indexes of a table were changed after its writes were placed. The
/// same refusal means that it gives other values of unique indexes than it has locks for. Another attempt places the writes
/// again.
bool is_made_for_other_indexes(const Status& failure) noexcept;
/// Returns whether the engine refused the commit because an entity on which it rests ended before (CommitRequest::before).
bool is_overtaken_by_end(const Status& failure) noexcept;
/// Returns the error to report for a failed change. `now` is the id that the name resolves to after a failure that
/// rests on an entity. Otherwise it is `table`.
Status reported_failure(const Status& failure, const TableName& name, format::TableId table,
                        const Result<format::TableId>& now, bool in_transaction);

/// Commits one write, and returns the ETag of the written entity; a remove has none. Errors: as Table::write, and one for
/// which is_made_for_other_indexes() holds: then the caller prepares the write again.
Result<ETag> commit_write(StoreCore& core, const TableName& name, NameEntry& entry, PreparedWrite& write,
                          const WriteOptions& options);
/// Commits all of `writes` or none, and returns the ETag of the written entities. All writes are of one partition and
/// of different entities. If `in_transaction` is true, errors name the operation. Errors: as commit_write().
Result<ETag> commit_writes(StoreCore& core, const TableName& name, NameEntry& entry, std::span<PreparedWrite> writes,
                           const WriteOptions& options, bool in_transaction);

}  // namespace varve
