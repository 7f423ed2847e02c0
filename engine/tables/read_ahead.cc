// Owns: the growth of the window (read_ahead.h).
#include "engine/tables/read_ahead.h"

#include <algorithm>

namespace varve::engine {

namespace {

/// A walk over a small partition ends within the first; from the last size on the device is as fast as it gets.
constexpr std::uint64_t kWindowBytesMin = std::uint64_t{16} << 10;
constexpr std::uint64_t kWindowBytesMax = std::uint64_t{512} << 10;
/// A walk that reads so much at once is a long one: it would drive out of the cache what others ask for.
constexpr std::uint64_t kLongWalkBytes = std::uint64_t{64} << 10;

}  // namespace

format::BlockHandle ReadAhead::window(const BlockWanted& wanted, Way way) const noexcept {
  const format::BlockHandle block = wanted.handle;
  const std::uint64_t most = std::max(window_bytes_, std::min(expected_bytes_, kWindowBytesMax));
  if (way == Way::kForward) {
    const std::uint64_t left = wanted.run->offset + wanted.run->data_bytes - block.offset;
    return {block.offset, std::max(std::min(most, left), block.bytes)};
  }
  const std::uint64_t end = block.offset + block.bytes;
  const std::uint64_t bytes = std::max(std::min(most, end - wanted.run->offset), block.bytes);
  return {end - bytes, bytes};
}

Result<PinnedBlock> ReadAhead::get(const BlockWanted& wanted, Way way) {
  const OpenTable& table = *wanted.table;
  if (PinnedBlock cached = blocks_.cache().pin(table.cache_id, wanted.handle.offset); cached) {
    if (cost_ != nullptr) ++cost_->blocks_from_cache;
    return cached;
  }
  if (cost_ != nullptr) ++cost_->blocks_read;
  if (tools_ && tools_->stored.holds(wanted.handle)) return blocks_.take(wanted, *tools_, priority());
  if (way == Way::kJump) {
    window_bytes_ = 0;
    expected_bytes_ = 0;
    return blocks_.read(wanted);
  }
  window_bytes_ = std::clamp(2 * window_bytes_, kWindowBytesMin, kWindowBytesMax);
  if (Status read = read_window(wanted, way); !read.ok()) return read;
  return blocks_.take(wanted, *tools_, priority());
}

BlockPriority ReadAhead::priority() const noexcept {
  return is_long_ || window_bytes_ >= kLongWalkBytes ? BlockPriority::kPassing : BlockPriority::kNormal;
}

Status ReadAhead::read_window(const BlockWanted& wanted, Way way) {
  if (!tools_) tools_ = blocks_.lend();
  if (!tools_) return Status::out_of_memory();
  StoredBytes& stored = tools_->stored;
  const OpenTable& table = *wanted.table;
  const format::BlockHandle ahead = window(wanted, way);
  expected_bytes_ -= std::min(expected_bytes_, ahead.bytes);
  if (Status ready = stored.prepare(ahead.offset, ahead.bytes, table.file->size_bytes()); !ready.ok()) return ready;
  if (Status read = table.file->read_exactly(stored.offset(), stored.bytes()); !read.ok()) {
    stored.clear();
    return read.in_file(table.name, wanted.handle.offset);
  }
  blocks_.count_read(stored.bytes().size());
  return Status();
}

void ReadAhead::expect(std::uint64_t bytes) noexcept {
  expected_bytes_ = bytes;
  is_long_ = bytes >= kLongWalkBytes;
}

}  // namespace varve::engine
