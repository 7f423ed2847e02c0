// Owns: the growth of the window (read_ahead.h).
#include "engine/tables/read_ahead.h"

#include <algorithm>

#include "engine/tables/walk_ahead.h"

namespace varve::engine {

namespace {

/// Smallest and largest bytes of a window. A scan over a small partition ends within the smallest. With the largest,
/// the device reaches its full speed.
constexpr std::uint64_t kWindowBytesMin = std::uint64_t{16} << 10;
constexpr std::uint64_t kWindowBytesMax = std::uint64_t{512} << 10;
/// Bytes read at once from which a scan is long. A long scan would evict blocks that other readers need.
constexpr std::uint64_t kLongWalkBytes = std::uint64_t{64} << 10;
/// Bytes read at once from which a thread reads ahead of the scan. It also does so if the scan is announced as long.
constexpr std::uint64_t kFollowedBytes = std::uint64_t{256} << 10;

WalkAhead::Way way_of(ReadAhead::Way way) noexcept {
  return way == ReadAhead::Way::kForward ? WalkAhead::Way::kForward : WalkAhead::Way::kBackward;
}

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
  if (std::optional<Result<PinnedBlock>> brought = take_brought(wanted, way); brought) return *std::move(brought);
  if (PinnedBlock cached = pin(wanted, way); cached) {
    if (cost_ != nullptr) ++cost_->blocks_from_cache;
    return cached;
  }
  const bool is_held = tools_ && tools_->stored.holds(wanted.handle);
  if (!is_held) {
    if (Status may = may_use_disk(cost_); !may.ok()) return may;
  }
  if (cost_ != nullptr) ++cost_->blocks_read;
  if (is_held) return blocks_.take(wanted, *tools_, priority());
  if (way == Way::kJump) {
    window_bytes_ = 0;
    expected_bytes_ = 0;
    return blocks_.read(wanted);
  }
  window_bytes_ = std::clamp(2 * window_bytes_, kWindowBytesMin, kWindowBytesMax);
  if (Status read = read_window(wanted, way); !read.ok()) return read;
  return blocks_.take(wanted, *tools_, priority());
}

/// Pins the block if it is cached. Neighbouring blocks of a run are adjacent, so the end of this block is the offset of
/// the next one.
PinnedBlock ReadAhead::pin(const BlockWanted& wanted, Way way) const noexcept {
  const std::uint64_t file = wanted.table->cache_id;
  const format::BlockHandle block = wanted.handle;
  if (way == Way::kBackward) return blocks_.cache().pin(file, block.offset);
  return blocks_.cache().pin(file, block.offset, block.offset + block.bytes);
}

std::optional<Result<PinnedBlock>> ReadAhead::take_brought(const BlockWanted& wanted, Way way) {
  if (!is_followed_ || way == Way::kJump || (tools_ && tools_->stored.holds(wanted.handle))) return std::nullopt;
  if (cost_ != nullptr && !cost_->may_wait) return std::nullopt;  // The thread may still be reading the block.
  WalkAhead::Brought brought = blocks_.ahead()->next(file_, wanted, way_of(way));
  is_followed_ = brought.is_known;
  if (!brought.block && !brought.stored) return std::nullopt;
  if (cost_ != nullptr) ++cost_->blocks_read;
  if (brought.block) return std::move(brought.block);
  if (!tools_) tools_ = blocks_.lend();
  if (!tools_) return Status::out_of_memory();
  return blocks_.take(wanted, *brought.stored, *tools_, BlockPriority::kPassing);
}

void ReadAhead::have_more_brought(const BlockWanted& wanted, format::BlockHandle read, Way way) {
  if (blocks_.ahead() == nullptr || (!is_long_ && read.bytes < kFollowedBytes)) return;
  is_followed_ = true;
  const std::uint64_t edge = way == Way::kForward ? read.offset + read.bytes : read.offset;
  blocks_.ahead()->go_on_from(file_, wanted, edge, way_of(way), read.bytes);
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
  have_more_brought(wanted, ahead, way);
  return Status();
}

void ReadAhead::expect(std::uint64_t bytes) noexcept {
  expected_bytes_ = bytes;
  is_long_ = bytes >= kLongWalkBytes;
  is_followed_ = is_long_ && blocks_.ahead() != nullptr;
}

}  // namespace varve::engine
