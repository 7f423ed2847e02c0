// Owns: whether a directory or file that is open is still the one that its path names.
// Must never: take a failed look for a proof: only another file under the name, or no name at all, is one.
//
// A descriptor stays with its file when the file is removed, renamed or replaced, and so does a write. An owner that
// asks nobody would acknowledge writes that no later open of the path finds. So a log segment and a file that is being
// written compare themselves with their path after each write that makes bytes durable.
//
//   path names the same file                         in place
//   path names another file, or the name is free     kFenced
//   the whole directory has moved, path names none   in place: whoever opens it where it is now, meets its lock
//   the file has no name left                        kFenced
//   path names another directory                     kFenced
//   the path may not be searched                     in place, unless the file has no name left
#pragma once

#include <memory>
#include <string>

#include <sys/stat.h>

#include "varve/status.h"

namespace varve::io {

/// Tells one file of a machine from every other.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  static FileIdentity of(const struct stat& status) noexcept { return {status.st_dev, status.st_ino}; }
  bool operator==(const FileIdentity&) const noexcept = default;
};

/// Any thread.
class DirectoryPlace {
 public:
  /// The place of an open directory. `path` is resolved once, so a later change of the working directory does not
  /// matter. If the path cannot be resolved, nothing is checked.
  DirectoryPlace(int descriptor, const std::string& path);

  /// Errors: kFenced. `descriptor` is the directory's.
  Status check(int descriptor, std::string_view call) const noexcept;

  /// Absolute, without symbolic links; empty if unknown.
  const std::string& path() const noexcept { return path_; }
  /// True if another directory has this path now.
  bool is_taken() const noexcept;
  /// True if the path still names this directory.
  bool is_here() const noexcept;

 private:
  std::string path_;
  FileIdentity identity_;
};

/// The place of one file in a directory. Any thread.
class FilePlace {
 public:
  FilePlace() noexcept = default;
  /// `descriptor` is that of the open file. If the file system gives the file another identity by path than by
  /// descriptor, nothing is checked.
  FilePlace(std::shared_ptr<const DirectoryPlace> directory, const std::string& name, int descriptor);

  /// One system call if all is well. Errors: kFenced.
  Status check(int descriptor, std::string_view call) const noexcept;

 private:
  Status explain(int descriptor, std::string_view call, bool is_other_file) const noexcept;

  std::shared_ptr<const DirectoryPlace> directory_;
  std::string path_;  // Empty: nothing is checked.
  FileIdentity identity_;
};

}  // namespace varve::io
