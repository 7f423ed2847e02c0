// Owns: opening a value file, and its end (value_file.h).
// Must never: read beyond the header.
#include "engine/tables/value_file.h"

#include <array>
#include <utility>

#include "engine/tables/table_file.h"

namespace varve::engine {

ValueFile::ValueFile(TableFiles& files, format::ValueFileEntry entry)
    : files_(files), entry_(std::move(entry)), opening_(files.scheduler()) {}

ValueFile::~ValueFile() {
  const OpenValueFile* const open = open_.load(std::memory_order_acquire);
  files_.ended(entry_, has_left_.load(std::memory_order_relaxed), open == nullptr ? 0 : open->cache_id);
}

Result<const OpenValueFile*> ValueFile::open() const {
  if (const OpenValueFile* const open = open_already(); open != nullptr) return open;
  const io::MutexGuard guard(opening_);
  if (owned_ == nullptr) {
    Result<std::unique_ptr<const OpenValueFile>> opened = files_.open(entry_);
    if (!opened.ok()) return opened.status().at_place({FileKind::kLogSegment, entry_.number});
    owned_ = *std::move(opened);
    open_.store(owned_.get(), std::memory_order_release);
  }
  return owned_.get();
}

}  // namespace varve::engine
