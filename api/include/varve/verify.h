// SPDX-License-Identifier: Apache-2.0
// Owns: the report of a verification.
// Must never: keep more findings than a person would read. `finding_count` counts all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "statistics.h"

namespace varve {

/// What Store::verify() read, and the problems it found.
struct VerifyReport {
  /// Accounts in the catalog.
  std::uint64_t accounts = 0;
  /// Tables in the catalog, of all accounts together.
  std::uint64_t tables = 0;
  /// Entities of all tables.
  std::uint64_t entities = 0;
  /// Properties of these entities, without keys and Timestamps.
  std::uint64_t properties = 0;
  /// Bytes of these properties as they are encoded, before compression.
  std::uint64_t value_bytes = 0;
  /// Queues in the catalog.
  std::uint64_t queues = 0;
  /// Messages of all queues, hidden and expired ones too.
  std::uint64_t messages = 0;
  /// Containers in the catalog.
  std::uint64_t containers = 0;
  /// Blobs of all containers.
  std::uint64_t blobs = 0;
  /// Bytes of contents that do not lie in the row of their blob. Each is counted once, whatever shares it.
  std::uint64_t content_bytes = 0;
  /// Indexes that are ready. The entries of each were compared with the entities of its table.
  std::uint64_t indexes = 0;
  /// Entries of these indexes.
  std::uint64_t index_entries = 0;
  /// Live table files and value files.
  std::uint64_t table_files = 0;
  /// Bytes of the live table files and value files. Every byte was read.
  std::uint64_t table_file_bytes = 0;
  /// The problems found. Each names the file or key. Holds at most kFindingsKept of them.
  std::vector<std::string> findings;
  /// Number of problems found, including those that `findings` does not hold.
  std::uint64_t finding_count = 0;
  /// What the verification found in the log.
  RecoveryStatistics recovery;

  /// Maximum number of elements of `findings`.
  static constexpr std::size_t kFindingsKept = 100;
  /// Returns whether no problem was found.
  bool sound() const noexcept { return finding_count == 0; }
};

}  // namespace varve
