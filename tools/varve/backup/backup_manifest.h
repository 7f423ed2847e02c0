// Owns: the list of the files of one backup, as a value and as text.
// Must never: accept a list that is not whole, or a name that leads out of a directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/backup/backup_files.h"
#include "varve/result.h"

namespace varve::tool {

struct BackupFile {
  std::string name;
  FileContent content;
};

struct BackupManifest {
  /// The id of the store, 32 hexadecimal digits.
  std::string store{};
  /// The time of the last commit in the backup.
  std::string version{};
  std::vector<BackupFile> files{};

  std::uint64_t bytes() const noexcept;
};

std::string encode_manifest(const BackupManifest& manifest);
/// Errors: kCorruption (the text is not whole), kUnsupported (a newer program wrote it).
Result<BackupManifest> decode_manifest(std::string_view text);

/// Returns whether the text is the hash of a content.
bool is_hash(std::string_view text) noexcept;

}  // namespace varve::tool
