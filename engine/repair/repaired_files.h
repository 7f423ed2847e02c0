// Owns: the table files of a repaired store: their numbers, their limits, their place in the target.
// Must never: accept a key twice, or leave a file in the target that the target does not list.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "engine/base/entry.h"
#include "engine/checkpoint/checkpoint_target.h"
#include "engine/levels/tree_shape.h"
#include "engine/tables/table_writer.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Writes files of the last level. One thread at a time may use it. After an error, only destruction is allowed.
class RepairedFiles {
 public:
  /// `env` and `target` must outlive this object.
  RepairedFiles(const io::Env& env, CheckpointTarget& target,
                std::uint64_t file_bytes_max = TreeShape().file_bytes) noexcept
      : env_(env), target_(target), file_bytes_max_(file_bytes_max) {}

  /// Adds an entry. Keys ascend (asserted) until end_file(). Ranges of keys between two calls of end_file() do not
  /// overlap.
  Status add(const Entry& entry);
  /// Ends the present file. Later entries are written to another file.
  Status end_file();

  const std::map<std::uint64_t, format::TableFileEntry>& files() const noexcept { return files_; }
  /// Returns a number above those of all files made.
  std::uint64_t next_number() const noexcept { return next_number_; }
  std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  Status begin_file();

  const io::Env& env_;
  CheckpointTarget& target_;
  const std::uint64_t file_bytes_max_;
  std::unique_ptr<TableWriter> writer_;
  std::map<std::uint64_t, format::TableFileEntry> files_;
  std::uint64_t next_number_ = 1;
  std::uint64_t entries_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace varve::engine
