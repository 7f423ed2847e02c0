// Owns: where a merge ends one output file and begins the next.
// Must never: cut between two versions of one key.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "engine/levels/job.h"
#include "engine/levels/tree_shape.h"

namespace varve::engine {

/// Used by the one thread that executes a job. `levels` are the levels from which the job was picked; they outlive it.
class OutputCuts {
 public:
  /// `large_tables` are the tables with enough bytes in the job's files for a file of their own.
  OutputCuts(const Levels& levels, const Job& job, const TreeShape& shape, std::set<TableId> large_tables = {});

  /// Returns whether a key begins a new file. Called before the first version of each written key, in ascending order
  /// of keys. Never returns true for a file without entries.
  ///
  /// - `file_bytes`: the bytes of the current file so far.
  /// - `table_bytes`: the bytes of the last written table in this job's output, over all files.
  /// - `new_table`: the key's table, if it differs from the table of the key before.
  bool begins_new_file(std::string_view key, std::uint64_t file_bytes, std::uint64_t table_bytes,
                       std::optional<TableId> new_table) noexcept;

 private:
  /// Skips the grandparents that end before the key. Returns whether it skipped any.
  bool pass_grandparents(std::string_view key, bool counted) noexcept;

  /// Returns whether the table must begin a new file, whatever the size of the table before it.
  bool stands_apart(TableId table) const noexcept;

  const TreeShape shape_;
  const std::set<TableId> large_tables_;
  std::optional<TableId> table_;  // of the key before
  Levels::Span grandparents_;     // files one level below the output that overlap the job
  std::size_t place_ = 0;
  std::uint64_t passed_bytes_ = 0;  // of grandparents, in the current file
};

}  // namespace varve::engine
