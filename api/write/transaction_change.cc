// Owns: the judgement of what a transaction read (transaction_change.h).
// Must never: take versions of entities for the ends of them.
#include "api/write/transaction_change.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/blob/blob_rows.h"
#include "api/model/quoted.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// Returns the hashes of all partitions that the transaction read or writes.
std::vector<std::uint64_t> partitions_of(const TransactionBasis& basis, std::span<const PreparedWrite> writes,
                                         const TransactionParts* parts) {
  std::vector<std::uint64_t> hashes;
  if (parts != nullptr) hashes = parts->locks();
  hashes.insert(hashes.end(), basis.value_locks.begin(), basis.value_locks.end());
  hashes.reserve(hashes.size() + basis.reads.size() + basis.ranges.size() + writes.size());
  for (const TransactionRead& read : basis.reads) {
    hashes.push_back(format::partition_hash(format::partition_of(read.sort_key)));
  }
  for (const TransactionRange& range : basis.ranges) {
    hashes.push_back(format::partition_hash(format::partition_of(range.lower)));
  }
  for (const PreparedWrite& write : writes) {
    hashes.push_back(format::partition_hash(format::partition_of(write.sort_key())));
  }
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

std::string description_of(const TransactionRead& read) {
  if (!read.is_blob) return "entity " + quoted_keys(read.sort_key);
  const Result<std::string> name = decode_named_key(read.sort_key);
  return "blob " + quoted(name.ok() ? *name : std::string());
}

}  // namespace

void sort_and_deduplicate(std::vector<format::TableId>& tables) {
  std::sort(tables.begin(), tables.end());
  tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
}

TransactionChange::TransactionChange(StoreCore& core, std::vector<format::TableId> tables,
                                     std::span<PreparedWrite> writes, const WriteOptions& options,
                                     const TransactionBasis& basis, TransactionParts* parts)
    : EntityChange(core, std::move(tables), writes, options, true,
                   basis.may_be_repeated ? Writes::kKept : Writes::kUsedUp, parts),
      hashes_(partitions_of(basis, writes, parts)),
      reads_(basis.reads),
      ranges_(basis.ranges),
      snapshot_(basis.snapshot),
      began_at_(basis.began_at.ticks),
      began_time_(basis.began_time),
      may_be_repeated_(basis.may_be_repeated) {
  allow_read_tables(writes);
  if (parts != nullptr) paced_bytes += parts->bytes();
}

Refusal TransactionChange::judge(const engine::ReadView& view, std::span<const engine::Newest> states) {
  if (Refusal refusal = judge_reads(view); refusal.is_refused()) return refusal;
  if (Refusal refusal = judge_ranges(view); refusal.is_refused()) return refusal;
  if (Refusal refusal = EntityChange::judge(view, states); refusal.is_refused()) return refusal;
  // The store need not keep older versions any more. Another attempt needs them: a compaction may remove a tombstone.
  if (!may_be_repeated_) snapshot_ = Snapshot();
  return {};
}

/// The indexes of a table that is only read may change.
void TransactionChange::allow_read_tables(std::span<const PreparedWrite> writes) {
  if (reads_.empty() && ranges_.empty()) return;
  std::vector<format::TableId> named;  // written, or allowed already
  for (const PreparedWrite& write : writes) named.push_back(format::table_id_of(write.sort_key()));
  sort_and_deduplicate(named);
  const auto allow = [&](format::TableId table) {
    const auto place = std::lower_bound(named.begin(), named.end(), table);
    if (place != named.end() && *place == table) return;
    named.insert(place, table);
    request.shapes.push_back({table, engine::kAnyShape});
  };
  for (const TransactionRead& read : reads_) allow(format::table_id_of(read.sort_key));
  for (const TransactionRange& range : ranges_) allow(format::table_id_of(range.lower));
}

Refusal TransactionChange::judge_reads(const engine::ReadView& view) {
  std::vector<std::string_view> keys;
  keys.reserve(reads_.size());
  for (const TransactionRead& read : reads_) keys.push_back(read.sort_key);
  const Result<std::vector<engine::Newest>> newest = view.newest_many(keys, engine::EntryPart::kVersion);
  if (!newest.ok()) return newest.status();
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const engine::CommitVersion written = (*newest)[i].version;
    if (written <= began_at_) {
      if (Status ended = judge_end((*newest)[i], i); !ended.ok()) return {ended, written};
      continue;
    }
    return {Status(Code::kConflict, "the " + description_of(reads_[i]) +
                                        " was written after the transaction began; begin the transaction again"),
            written};
  }
  return {};
}

Refusal TransactionChange::judge_ranges(const engine::ReadView& view) {
  std::uint64_t left = limits::kStoreTransactionRangeEntitiesMax;
  for (const TransactionRange& range : ranges_) {
    const Result<engine::RangeState> now = view.compare_range(range.lower, range.upper, {began_at_, began_time_}, left);
    if (!now.ok()) return now.status();
    if (!now->changed_key.empty()) {
      return {Status(Code::kConflict, "the entity " + quoted_keys(now->changed_key) +
                                          ", in a range that the transaction checks, " +
                                          (now->has_ended ? "ended" : "was written") +
                                          " after the transaction began; begin the transaction again"),
              now->changed_at};
    }
    if (now->entities > left) {
      return Status::too_large("the ranges that the transaction checks have more than " +
                               std::to_string(limits::kStoreTransactionRangeEntitiesMax) + " entities")
          .with_service_error("InvalidInput");
    }
    left -= now->entities;
    rest_on_end(now->first_end);
  }
  return {};
}

/// An entity that the transaction saw must not have ended since, nor before the commit.
Status TransactionChange::judge_end(const engine::Newest& read, std::size_t index) {
  rest_on(read);
  if (read.value || read.end() == 0 || read.end() <= began_time_) return Status();
  return Status(Code::kConflict, "the " + description_of(reads_[index]) +
                                     " ended after the transaction began; begin the transaction again");
}

}  // namespace varve
