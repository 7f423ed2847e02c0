// Owns: a value file in use: a closed segment of the log that stays for the large values in it, opened when first read.
// Must never: be read as a log, or serve a file that is not the one the manifest names.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/tables/open_files.h"
#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class TableFiles;

/// Never changes; any thread.
struct OpenValueFile {
  std::unique_ptr<HeldFile> file;
  std::uint64_t cache_id = 0;
  NamedFile name;
};

/// Any thread.
class ValueFile {
 public:
  ValueFile(TableFiles& files, format::ValueFileEntry entry);
  ~ValueFile();
  ValueFile(const ValueFile&) = delete;
  ValueFile& operator=(const ValueFile&) = delete;

  const format::ValueFileEntry& entry() const noexcept { return entry_; }

  /// Opens the file if it is not open yet. Valid as long as this. A failure is told again at the next call only after
  /// another attempt. Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory; all name the file.
  Result<const OpenValueFile*> open() const;
  /// Null if it is not open yet. Does no I/O.
  const OpenValueFile* open_already() const noexcept { return open_.load(std::memory_order_acquire); }

  /// The manifest names it no more: it is removed when this ends.
  void leave() noexcept { has_left_.store(true, std::memory_order_relaxed); }

 private:
  TableFiles& files_;
  const format::ValueFileEntry entry_;
  std::atomic<bool> has_left_{false};

  mutable std::atomic<const OpenValueFile*> open_{nullptr};
  mutable io::Mutex opening_;
  mutable std::unique_ptr<const OpenValueFile> owned_ VARVE_GUARDED_BY(opening_);
};

/// By number.
using ValueFiles = std::map<std::uint64_t, std::shared_ptr<ValueFile>>;

}  // namespace varve::engine
