// Owns: a value file in use: a closed segment of the log, kept for its large values and opened at its first read.
// Must never: be read as a log, or serve a file that the manifest does not name.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/shared_map.h"
#include "engine/tables/open_files.h"
#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class TableFiles;

/// Never changes. Thread-safe.
struct OpenValueFile {
  std::unique_ptr<HeldFile> file;
  std::uint64_t cache_id = 0;
  NamedFile name;
};

/// Thread-safe.
class ValueFile {
 public:
  ValueFile(TableFiles& files, format::ValueFileEntry entry);
  ~ValueFile();
  ValueFile(const ValueFile&) = delete;
  ValueFile& operator=(const ValueFile&) = delete;

  const format::ValueFileEntry& entry() const noexcept { return entry_; }

  /// Opens the file if it is not open yet. The result is valid as long as this object. After a failure, the next call
  /// tries again.
  /// Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory; all name the file.
  Result<const OpenValueFile*> open() const;
  /// Returns null if the file is not open yet. Does no I/O.
  const OpenValueFile* open_already() const noexcept { return open_.load(std::memory_order_acquire); }

  /// Notes that the manifest no longer names the file. The file is removed after this object ends.
  void leave() noexcept { has_left_.store(true, std::memory_order_relaxed); }

 private:
  TableFiles& files_;
  const format::ValueFileEntry entry_;
  std::atomic<bool> has_left_{false};

  mutable std::atomic<const OpenValueFile*> open_{nullptr};
  mutable io::Mutex opening_;
  mutable std::unique_ptr<const OpenValueFile> owned_ VARVE_GUARDED_BY(opening_);
};

/// Value files by number. Copies share them.
using ValueFiles = SharedMap<std::shared_ptr<ValueFile>>;

}  // namespace varve::engine
