// Owns: the directory that a checkpoint, or a repaired store, is made in: that it was empty, its files, its name as a
// store.
// Must never: touch a file that it did not make, or let CURRENT stand before or longer than what it leads to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/manifest/file_set.h"
#include "engine/settings/statistics.h"
#include "format/log/root.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time.
class CheckpointTarget {
 public:
  /// Makes the directory, or finds it empty (a lock file that nobody holds is nothing), and locks it. `env` outlives
  /// the target. Errors: those of make_checkpoint() about the directory; it is unchanged then.
  static Result<std::unique_ptr<CheckpointTarget>> begin(const io::Env& env, std::string_view path);
  /// Removes what was made, unless it was finished.
  ~CheckpointTarget();
  CheckpointTarget(const CheckpointTarget&) = delete;
  CheckpointTarget& operator=(const CheckpointTarget&) = delete;

  /// Links the file, or copies it where that cannot be. A copy is compared with `content_hash` where that is given; a
  /// link is what it was. Errors: kCorruption (another size or content), those of io.
  Status take(io::Directory& from, const std::string& name, std::uint64_t size_bytes,
              std::optional<std::uint64_t> content_hash);

  // For who writes files of their own instead:

  io::Directory& directory() noexcept { return *directory_; }
  /// Asks for room first, so that a file that was made is never lost sight of.
  void reserve_made() { names_.reserve(names_.size() + 1); }
  /// A file of that name was made in the directory, and is removed with the others. Room was reserved.
  void made(std::string name) noexcept { names_.push_back(std::move(name)); }

  /// Makes the store of the files taken: a manifest with `files`, and CURRENT as a clean close leaves it. `version` is
  /// the last commit's. Errors: kCorruption (what stands is not what `files` says), those of io.
  Status finish(FileSet files, CommitVersion version, std::string root_unknown_fields);

  const CheckpointFigures& figures() const noexcept { return figures_; }

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
  CheckpointFigures figures_;
  bool finished_ = false;
};

}  // namespace varve::engine
