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

/// For the one thread that executes a job. `levels`, those the job was picked from, outlive it.
class OutputCuts {
 public:
  /// `large_tables` are those of which the job's files hold enough for a file of their own.
  OutputCuts(const Levels& levels, const Job& job, const TreeShape& shape, std::set<TableId> large_tables = {});

  /// Asked before the first version of each key that is written, in ascending order of keys: whether it begins a new
  /// file. `file_bytes` are the bytes of the file so far, `table_bytes` those of its last table in this job's output
  /// (over all files); `new_table` is the key's table where it is another one. Never true for a file without entries.
  bool begins_new_file(std::string_view key, std::uint64_t file_bytes, std::uint64_t table_bytes,
                       std::optional<TableId> new_table) noexcept;

 private:
  /// Steps over the grandparents that end before the key; whether it left any.
  bool pass_grandparents(std::string_view key, bool counted) noexcept;

  /// Whether the table is to be apart from the one before it, whatever that one's size.
  bool stands_apart(TableId table) const noexcept;

  const TreeShape shape_;
  const std::uint64_t file_bytes_max_;  // of the output's level
  const std::set<TableId> large_tables_;
  std::optional<TableId> table_;  // of the key before
  Levels::Span grandparents_;     // files one level below the output that overlap the job
  std::size_t place_ = 0;
  std::uint64_t passed_bytes_ = 0;  // of grandparents, by the file at hand
};

}  // namespace varve::engine
