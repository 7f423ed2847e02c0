// Owns: a directory of backups of one store: its contents by their hashes, the lists of files, and its lock.
// Must never: list a backup before all its contents are durable, or remove a content that a backup needs.
//
//   VARVE-BACKUPS        the format, and the id of the store
//   LOCK                 locked by the program that uses the directory
//   contents/ab/ab12...  one file for each content, named by its SHA-256
//   backups/000007-20261126T051011Z.list
//   scratch/             files that are being written; removed by the next backup
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/varve/backup/backup_manifest.h"
#include "tools/varve/base/owned_descriptor.h"
#include "varve/result.h"

namespace varve::tool {

struct PruneCounts {
  std::uint64_t backups = 0;
  std::uint64_t contents = 0;
  std::uint64_t bytes = 0;
};

class BackupPlace {
 public:
  /// Returns whether the directory has backups.
  static bool is_one(const std::string& path);
  /// Opens a directory for reading. Errors: kNotFound (it has no backups), kLocked (a backup is being made), kCorruption,
  /// kUnsupported, kIoError.
  static Result<BackupPlace> open(const std::string& path);
  /// Opens a directory for a new backup of the store with this id. Creates it if it is absent or empty. Errors: as
  /// above; kInvalidArgument (it holds other things, or backups of another store), kNoSpace.
  static Result<BackupPlace> open_for(const std::string& path, const std::string& store);

  /// Returns the names of the backups, the oldest first. Errors: kIoError.
  Result<std::vector<std::string>> names() const;
  /// Returns the list of a backup. Errors: kNotFound (there is no such backup), kCorruption, kUnsupported, kIoError.
  Result<BackupManifest> manifest(const std::string& name) const;
  std::string content_path(const std::string& hash) const;
  /// Checks that each content of the backup is there with its hash. Errors: kCorruption, which names the first file
  /// that is not; kIoError.
  Status verify(const BackupManifest& manifest, const std::function<void(std::uint64_t bytes)>& progress) const;

  /// Copies a file that is not among the contents yet. Sets `is_new` if it was not. Errors: kNoSpace, kIoError,
  /// kCorruption (the file changed while it was copied).
  Status add_content(const std::string& from, const FileContent& content, bool& is_new);
  /// Removes contents that the backup which failed had added.
  void remove_contents(const std::vector<std::string>& hashes) noexcept;
  /// Makes the backup one of the list. All its contents were added. Returns its name. Errors: kNoSpace, kIoError.
  Result<std::string> add(const BackupManifest& manifest);
  /// Removes all backups but the newest `kept`, and the contents that no other backup needs. Errors: kIoError; those of
  /// manifest(), and then no content was removed.
  Result<PruneCounts> prune(std::size_t kept);

  /// Returns a directory for temporary files, in the file system of the contents.
  std::string scratch() const { return path_ + "/scratch"; }

 private:
  BackupPlace(std::string path, OwnedDescriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  static Result<BackupPlace> lock(const std::string& path, bool is_writer);
  Status read_mark();

  std::string path_;
  OwnedDescriptor lock_;
  std::string store_;
};

}  // namespace varve::tool
