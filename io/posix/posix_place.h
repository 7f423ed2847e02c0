// Owns: the check that an open directory or file is still the one that its path names.
// Must never: treat a failed check as proof of a change. Only another file under the name, or a missing name, is proof.
//
// A descriptor stays with its file when the file is removed, renamed or replaced, and so do its writes. Without this
// check, an owner would acknowledge writes that no later open of the path finds. So a log segment and a file being
// written compare themselves with their path after each write that makes bytes durable.
//
//   path names the same file                         in place
//   path names another file, or the name is free     kFenced
//   the whole directory has moved, path names none   in place: an open at its new path finds its lock
//   the file has no name left                        kFenced
//   path names another directory                     kFenced
//   the path may not be searched                     in place, unless the file has no name left
#pragma once

#include <memory>
#include <string>

#include <sys/stat.h>

#include "varve/status.h"

namespace varve::io {

/// Distinguishes one file of a machine from all others.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  static FileIdentity of(const struct stat& status) noexcept { return {status.st_dev, status.st_ino}; }
  bool operator==(const FileIdentity&) const noexcept = default;
};

/// The place of a directory. Any thread may use it.
class DirectoryPlace {
 public:
  /// Records the place of an open directory. `path` is resolved once, so a later change of the working directory has no
  /// effect. If the path cannot be resolved, nothing is checked.
  DirectoryPlace(int descriptor, const std::string& path);

  /// Checks the place. Errors: kFenced. `descriptor` is the directory's.
  Status check(int descriptor, std::string_view call) const noexcept;

  /// Returns the path, absolute and without symbolic links, or an empty string if it is unknown.
  const std::string& path() const noexcept { return path_; }
  /// Returns whether the path now names another directory.
  bool is_taken() const noexcept;
  /// Returns whether the path still names this directory.
  bool is_here() const noexcept;

 private:
  std::string path_;
  FileIdentity identity_;
};

/// The place of one file in a directory. Any thread.
class FilePlace {
 public:
  FilePlace() noexcept = default;
  /// `descriptor` is that of the open file. If the file system reports another identity by path than by descriptor,
  /// nothing is checked.
  FilePlace(std::shared_ptr<const DirectoryPlace> directory, const std::string& name, int descriptor);

  /// Checks the place with one system call if nothing changed. Errors: kFenced.
  Status check(int descriptor, std::string_view call) const noexcept;

 private:
  Status explain(int descriptor, std::string_view call, bool is_other_file) const noexcept;

  std::shared_ptr<const DirectoryPlace> directory_;
  std::string path_;  // Empty: nothing is checked.
  FileIdentity identity_;
};

}  // namespace varve::io
