// SPDX-License-Identifier: Apache-2.0
// Owns: the report of a repair: what Store::repair() saved, and what it could not save. A leaf header: the engine fills
// it.
// Must never: hide a loss. If a list is longer than its limit, the count beside it is still complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "date_time.h"

namespace varve {

/// The names and keys of one entity. If the name of an account or table is not known, its number is given instead. A
/// row of the store's own catalog has an empty account; its table is "accounts", "tables", "service" or "drops".
struct RepairKey {
  /// Name or number of the account; empty for a catalog row.
  std::string account;
  /// Name or number of the table.
  std::string table;
  /// PartitionKey of the entity.
  std::string partition_key;
  /// RowKey of the entity.
  std::string row_key;
};

/// A part of a file that is missing or does not verify. A commit in it is lost unless another file also holds it.
struct RepairLoss {
  /// Name of the file inside the store's directory, for example "000003.wal".
  std::string file;
  /// Start of the part, in bytes from the start of the file.
  std::uint64_t offset = 0;
  /// Length of the part in bytes. Zero if it is not known.
  std::uint64_t bytes = 0;
  /// The fault of the part, in words for people.
  std::string what;
  /// Upper bound of the entity versions in the part, deletions included. Zero if it is not known.
  std::uint64_t entries_max = 0;
  /// Smallest key that the part may have held. Not set if there is no lower bound.
  std::optional<RepairKey> first{};
  /// Largest key that the part may have held. Not set if there is no upper bound.
  std::optional<RepairKey> last{};
  /// Earliest commit that the part may have held. Not set if there is no lower bound.
  std::optional<DateTime> oldest{};
  /// Latest commit that the part may have held. Not set if there is no upper bound.
  std::optional<DateTime> newest{};
  /// Number of saved entities of which this part may have held a newer version or the deletion.
  std::uint64_t entities_possibly_stale = 0;
};

/// Files of one kind, counted by their state.
struct RepairedFileCount {
  /// Files that verify completely.
  std::uint64_t whole = 0;
  /// Files that exist, but do not verify completely or could not be read.
  std::uint64_t damaged = 0;
  /// Files that the store names and that do not exist.
  std::uint64_t missing = 0;
};

/// What Store::repair() found and wrote.
///
/// The reports that the `progress` callback receives are incomplete. Until the last one, they lack the version, all
/// counts and names of accounts and tables, the written files, the findings and the losses.
struct RepairReport {
  /// The file CURRENT.
  RepairedFileCount current;
  /// Files MANIFEST-*, which list the files of the store.
  RepairedFileCount manifests;
  /// Log segments, which hold the commits in their order.
  RepairedFileCount log_segments;
  /// Log buffers, which hold the newest buffered writes.
  RepairedFileCount log_buffers;
  /// Table files, which hold the sorted entities.
  RepairedFileCount table_files;
  /// True if the repair knows exactly which files belonged to the store. If false, it read every file that may have
  /// belonged to it, so old values and deleted entities may be back. A loss without bounds reports this.
  bool files_are_certain = false;
  /// True if the store's limits and default durability were readable. If false, the new store has the defaults.
  bool options_are_known = false;

  /// Records read from the log.
  std::uint64_t log_records = 0;
  /// Commits in these records that the table files did not hold yet.
  std::uint64_t commits = 0;
  /// Length in bytes of an unfinished write at the end of the log, as a crash leaves it.
  std::uint64_t torn_bytes = 0;
  /// Bytes that the repair read from all files.
  std::uint64_t read_bytes = 0;

  /// Accounts of the new store.
  std::uint64_t accounts = 0;
  /// Tables of the new store, in all accounts.
  std::uint64_t tables = 0;
  /// Queues of the new store, in all accounts. The rows of their messages count as entities. A queue whose catalog row
  /// was lost is one of `renamed_tables`, with its messages as entities.
  std::uint64_t queues = 0;
  /// Containers of the new store, in all accounts. The rows of their blobs count as entities, and so do the parts of
  /// contents. A container whose catalog row was lost is one of `renamed_tables`.
  std::uint64_t containers = 0;
  /// Entities of the new store, in all tables.
  std::uint64_t entities = 0;
  /// Bytes of these entities' properties, as encoded and before compression.
  std::uint64_t value_bytes = 0;
  /// Indexes that were built from these entities.
  std::uint64_t indexes = 0;
  /// One line for each index, or for all, that could not be built. The entities are saved: drop such an index or create
  /// it again.
  std::vector<std::string> unbuilt_indexes;
  /// Table files that the repair wrote.
  std::uint64_t written_files = 0;
  /// Sum of the sizes of these files, in bytes.
  std::uint64_t written_bytes = 0;
  /// No version in the damaged store was above this one.
  DateTime version{};

  /// Number of saved entities that may have had a newer version, or may have been deleted.
  std::uint64_t entities_possibly_stale = 0;
  /// Number of entities that were not saved because no catalog row names their table. The table may have been dropped,
  /// or its load may never have finished.
  std::uint64_t entities_left_out = 0;
  /// Tables whose names were lost, as "account/table" with the new name. For example, "myaccount/Recovered7".
  std::vector<std::string> renamed_tables;
  /// Names of the accounts whose catalog rows were lost and written anew.
  std::vector<std::string> remade_accounts;

  /// One line for each problem, also for a problem that lost nothing. Holds at most kFindingsKept lines.
  std::vector<std::string> findings;
  /// Number of all problems, also of those that `findings` does not hold.
  std::uint64_t finding_count = 0;
  /// The lost parts of files. Holds at most kLossesKept of them.
  std::vector<RepairLoss> losses;
  /// Number of all lost parts, also of those that `losses` does not hold.
  std::uint64_t loss_count = 0;

  /// Maximum number of lines in `findings`.
  static constexpr std::size_t kFindingsKept = 1000;
  /// Maximum number of parts in `losses`.
  static constexpr std::size_t kLossesKept = 1000;
  /// Returns true if the new store holds everything that the old store held.
  bool lost_nothing() const noexcept { return loss_count == 0 && entities_left_out == 0; }
  /// Returns true if nothing was lost and no file of the old store was damaged.
  bool was_sound() const noexcept { return lost_nothing() && finding_count == 0; }
};

}  // namespace varve
