// Owns: the directory in which a checkpoint or a repaired store is made: the check that it was empty, its files, and
// its CURRENT.
// Must never: touch a file that it did not make, or let CURRENT exist before or longer than the files that it leads to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/manifest/file_set.h"
#include "format/log/root.h"
#include "io/env.h"
#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::engine {

/// A target directory. One thread at a time may use it.
class CheckpointTarget {
 public:
  /// Creates the directory, or checks that it is empty (an unlocked lock file does not count), and locks it. `env` must
  /// outlive the target. Errors: those of make_checkpoint() about the directory, which is then unchanged.
  static Result<std::unique_ptr<CheckpointTarget>> begin(const io::Env& env, std::string_view path);
  /// Removes the files that were made, unless finish() succeeded.
  ~CheckpointTarget();
  CheckpointTarget(const CheckpointTarget&) = delete;
  CheckpointTarget& operator=(const CheckpointTarget&) = delete;

  /// Links the file, or copies it if a link is not possible. A copy is compared with `content_hash`, if given; a link
  /// needs no comparison. Errors: kCorruption (another size or content), those of io.
  Status take(io::Directory& from, const std::string& name, std::uint64_t size_bytes,
              std::optional<std::uint64_t> content_hash);

  // The functions below are for callers that write files themselves:

  io::Directory& directory() noexcept { return *directory_; }
  /// Reserves memory first, so that a new file is never forgotten.
  void reserve_made() { names_.reserve(names_.size() + 1); }
  /// Records that a file of that name was made in the directory, so that it is removed with the others. Memory must be
  /// reserved.
  void made(std::string name) noexcept { names_.push_back(std::move(name)); }

  /// Makes a store of the files: a manifest with `files`, and CURRENT as after a clean close. `version` is the last
  /// commit's. Errors: kCorruption (the files differ from `files`), those of io.
  Status finish(FileSet files, CommitVersion version, std::string root_unknown_fields);

  const CheckpointStatistics& figures() const noexcept { return figures_; }

 private:
  CheckpointTarget(const io::Env& env, std::unique_ptr<io::Directory> directory,
                   std::unique_ptr<io::DirectoryLock> lock) noexcept;
  Status copy(io::Directory& from, const std::string& name, std::uint64_t size_bytes,
              std::optional<std::uint64_t> content_hash);
  void give_up() noexcept;

  const io::Env& env_;
  const std::unique_ptr<io::Directory> directory_;
  const std::unique_ptr<io::DirectoryLock> lock_;
  std::vector<std::string> names_;  // made so far
  CheckpointStatistics figures_;
  bool finished_ = false;
};

}  // namespace varve::engine
