// SPDX-License-Identifier: Apache-2.0
// Owns: what a verification found.
// Must never: hold more findings than a person would read; the count tells the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "statistics.h"

#pragma GCC visibility push(default)

namespace varve {

/// What Store::verify read and what it found wrong.
struct VerifyReport {
  std::uint64_t accounts = 0;
  std::uint64_t tables = 0;
  /// Entities, their properties, and the bytes of their stored values.
  std::uint64_t entities = 0;
  std::uint64_t properties = 0;
  std::uint64_t value_bytes = 0;
  /// Live table files, every byte of which was read.
  std::uint64_t table_files = 0;
  std::uint64_t table_file_bytes = 0;
  /// Each names the file or key concerned. At most kFindingsKept are kept.
  std::vector<std::string> findings;
  std::uint64_t finding_count = 0;
  /// What reading the log said.
  RecoveryStatistics recovery;

  static constexpr std::size_t kFindingsKept = 100;
  bool sound() const noexcept { return finding_count == 0; }
};

}  // namespace varve

#pragma GCC visibility pop
