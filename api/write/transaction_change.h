// Owns: the commit of a transaction over any partitions and tables, as a change.
// Must never: be committed after an entity that the transaction read, or a range that it checks, was written or has ended.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/write/entity_change.h"
#include "api/write/store_transaction_state.h"

namespace varve {

void sort_and_deduplicate(std::vector<format::TableId>& tables);

/// What a transaction rests on. Its reads need not change, and outlive the object.
struct TransactionBasis {
  std::span<const TransactionRead> reads;
  std::span<const TransactionRange> ranges;
  Snapshot& snapshot;
  DateTime began_at;
  engine::CommitVersion began_time;          // at which the snapshot judges the ends of entities
  std::vector<std::uint64_t> value_locks{};  // those of append_value_locks()
  bool may_be_repeated = false;              // Another attempt may be made with the writes and the snapshot.
};

/// The writes of a transaction. They are refused if an entity that the transaction read has been written since, or if a
/// range that it checks has changed.
class TransactionChange final : public EntityChange {
 public:
  /// `parts` may be null.
  TransactionChange(StoreCore& core, std::vector<format::TableId> tables, std::span<PreparedWrite> writes,
                    const WriteOptions& options, const TransactionBasis& basis, TransactionParts* parts);

  std::span<const std::uint64_t> locks_needed() const noexcept override { return hashes_; }
  Refusal judge(const engine::ReadView& view, std::span<const engine::Newest> states) override;

 private:
  void allow_read_tables(std::span<const PreparedWrite> writes);
  Refusal judge_reads(const engine::ReadView& view);
  Refusal judge_ranges(const engine::ReadView& view);
  Status judge_end(const engine::Newest& read, std::size_t index);

  const std::vector<std::uint64_t> hashes_;
  const std::span<const TransactionRead> reads_;
  const std::span<const TransactionRange> ranges_;
  Snapshot& snapshot_;
  const engine::CommitVersion began_at_;
  const engine::CommitVersion began_time_;
  const bool may_be_repeated_;
};

}  // namespace varve
