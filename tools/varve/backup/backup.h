// Owns: making one backup of a store, and writing a backup back to a store's directory.
// Must never: report a backup or a store that was not verified, or touch earlier backups after an error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/varve/backup/backup_place.h"
#include "varve/verify.h"

namespace varve::tool {

/// The result of one backup.
struct BackupCounts {
  std::string name{};
  std::string version{};
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  /// Contents that no earlier backup had.
  std::uint64_t files_new = 0;
  std::uint64_t bytes_new = 0;
};

/// Called with the number of bytes that were read since the last call.
using BytesRead = std::function<void(std::uint64_t bytes)>;

/// Adds the store in the directory `source` to the backups. After an error, the contents that it added are removed,
/// except after a crash: then the next backup uses them. Errors: kNoSpace, kIoError, kCorruption.
Result<BackupCounts> make_backup(const std::string& source, const std::string& store, BackupPlace& place,
                                 const BytesRead& progress);

/// Writes the store of a backup to the directory `target`, and verifies it. The directory is absent or empty, or a
/// restore to it was interrupted. Without its last step it opens as no store.
/// Errors: kExists (the directory holds other things); kCorruption (the backup is damaged), kNoSpace, kIoError, and
/// those of Store::verify().
Result<VerifyReport> restore_store(const BackupPlace& place, const BackupManifest& manifest, const std::string& target,
                                   const BytesRead& progress);

}  // namespace varve::tool
