// SPDX-License-Identifier: Apache-2.0
// Owns: what a repair saved, and what it could not.
// Must never: keep quiet about a loss; where there are more than a person would read, the count tells the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// Where an entity stands. Where no name is known of account or table, their numbers stand for them; the store's own
/// rows, which say what accounts and tables there are, have an empty account.
struct RepairKey {
  std::string account;
  std::string table;
  std::string partition_key;
  std::string row_key;
};

/// A part of a file that is missing or does not verify. What was committed in it is lost, if it stood nowhere else.
struct RepairLoss {
  std::string file;
  /// In bytes from the file's start.
  std::uint64_t offset = 0;
  /// Zero where it is not known.
  std::uint64_t bytes = 0;
  std::string what;
  /// How many versions of entities, deletions included, it held at most; zero where it is not known.
  std::uint64_t entries_max = 0;
  /// All that is lost lies between these, and they may be among it. Without one there is no bound on that side.
  std::optional<RepairKey> first{};
  std::optional<RepairKey> last{};
  /// And was written between these, both included.
  std::optional<DateTime> oldest{};
  std::optional<DateTime> newest{};
  /// Entities that were saved from elsewhere, and of which a newer version, or the deletion, may be lost here.
  std::uint64_t entities_possibly_stale = 0;
};

/// Of one kind of file.
struct RepairedFileCount {
  std::uint64_t whole = 0;
  std::uint64_t damaged = 0;
  std::uint64_t missing = 0;
};

/// What Store::repair found and made.
struct RepairReport {
  RepairedFileCount current;
  RepairedFileCount manifests;
  RepairedFileCount log_segments;
  RepairedFileCount log_buffers;
  RepairedFileCount table_files;
  /// Which files the store consisted of was known. Otherwise every file was read that may have been part of it, and
  /// what was changed or deleted may have come back: a loss without bounds says so.
  bool files_are_certain = false;
  /// Limits and default durability of the store were known; otherwise the new one has the usual ones.
  bool options_are_known = false;

  /// Records and commits of the log that are not in table files, and the bytes of an unfinished write at its end, as a
  /// crash leaves it.
  std::uint64_t log_records = 0;
  std::uint64_t commits = 0;
  std::uint64_t torn_bytes = 0;
  std::uint64_t read_bytes = 0;

  // What the new store holds.
  std::uint64_t accounts = 0;
  std::uint64_t tables = 0;
  std::uint64_t entities = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t written_files = 0;
  std::uint64_t written_bytes = 0;
  /// No version of the damaged store was above it.
  DateTime version{};

  /// Of the entities, those that may be older than they were, or deleted since.
  std::uint64_t entities_possibly_stale = 0;
  /// Entities of tables that no row of the catalog names and that may have been dropped, or never finished loading.
  std::uint64_t entities_left_out = 0;
  /// Tables whose names were lost, as "account/table": they have new names.
  std::vector<std::string> renamed_tables;
  /// Accounts whose own rows were lost and made anew.
  std::vector<std::string> remade_accounts;

  /// One line for each thing amiss, those that cost nothing too. At most kFindingsKept are kept.
  std::vector<std::string> findings;
  std::uint64_t finding_count = 0;
  /// At most kLossesKept are kept.
  std::vector<RepairLoss> losses;
  std::uint64_t loss_count = 0;

  static constexpr std::size_t kFindingsKept = 1000;
  static constexpr std::size_t kLossesKept = 1000;
  /// The new store holds all that the old one did.
  bool lost_nothing() const noexcept { return loss_count == 0 && entities_left_out == 0; }
  /// And no file of the old one was damaged.
  bool was_sound() const noexcept { return lost_nothing() && finding_count == 0; }
};

}  // namespace varve

#pragma GCC visibility pop
