// Owns: the growth of the window (read_ahead.h).
#include "engine/tables/read_ahead.h"

#include <algorithm>

namespace varve::engine {

namespace {

/// A walk over a small partition ends within the first; from the last size on the device is as fast as it gets.
constexpr std::uint64_t kWindowBytesMin = std::uint64_t{16} << 10;
constexpr std::uint64_t kWindowBytesMax = std::uint64_t{512} << 10;

}  // namespace

format::BlockHandle ReadAhead::window(const BlockWanted& wanted, Way way) const noexcept {
  const format::BlockHandle block = wanted.handle;
  if (way == Way::kForward) {
    const std::uint64_t left = wanted.run->offset + wanted.run->data_bytes - block.offset;
    return {block.offset, std::max(std::min(window_bytes_, left), block.bytes)};
  }
  const std::uint64_t end = block.offset + block.bytes;
  const std::uint64_t bytes = std::max(std::min(window_bytes_, end - wanted.run->offset), block.bytes);
  return {end - bytes, bytes};
}

Result<PinnedBlock> ReadAhead::get(const BlockWanted& wanted, Way way) {
  const OpenTable& table = *wanted.table;
  if (PinnedBlock cached = blocks_.cache().pin(table.cache_id, wanted.handle.offset); cached) {
    if (cost_ != nullptr) ++cost_->blocks_from_cache;
    return cached;
  }
  if (cost_ != nullptr) ++cost_->blocks_read;
  if (stored_.holds(wanted.handle)) return blocks_.take(wanted, stored_);
  if (way == Way::kJump) {
    window_bytes_ = 0;
    return blocks_.read(wanted);
  }
  window_bytes_ = std::clamp(2 * window_bytes_, kWindowBytesMin, kWindowBytesMax);
  const format::BlockHandle ahead = window(wanted, way);
  if (Status ready = stored_.prepare(ahead.offset, ahead.bytes, table.file->size_bytes()); !ready.ok()) return ready;
  if (Status read = table.file->read_exactly(stored_.offset(), stored_.bytes()); !read.ok()) {
    stored_.clear();
    return read.in_file(table.name, wanted.handle.offset);
  }
  blocks_.count_read(stored_.bytes().size());
  return blocks_.take(wanted, stored_);
}

}  // namespace varve::engine
