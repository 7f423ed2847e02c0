// Owns: how many bytes a scan over one table reads at once, forward or backward. The number grows as the scan advances.
// Must never: read outside the data of the current run, whose extent is known exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/read_cost.h"
#include "engine/tables/block_reader.h"
#include "varve/result.h"

namespace varve::engine {

/// Used by one thread at a time.
class ReadAhead {
 public:
  /// All arguments outlive it; `cost` may be null.
  ReadAhead(const TableFile& file, BlockReader& blocks, ReadCost* cost) noexcept
      : file_(file), blocks_(blocks), cost_(cost) {}
  ~ReadAhead() {
    if (tools_) blocks_.give_back(std::move(tools_));
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The direction of the scan: from anywhere, from the preceding block, or from the following block.
  enum class Way : std::uint8_t { kJump, kForward, kBackward };
  /// Returns a data block of the file, from the cache, from the bytes read ahead, or from the disk.
  /// Errors: those of BlockReader::get, and kOutOfMemory.
  Result<PinnedBlock> get(const BlockWanted& wanted, Way way);
  /// Announces a scan of about `bytes` bytes. Unless the scan jumps, its first read may take them at once.
  void expect(std::uint64_t bytes) noexcept;

 private:
  PinnedBlock pin(const BlockWanted& wanted, Way way) const noexcept;
  Status read_window(const BlockWanted& wanted, Way way);
  /// Returns the block that the store's thread has read, if that thread reads ahead of this scan.
  std::optional<Result<PinnedBlock>> take_brought(const BlockWanted& wanted, Way way);
  void have_more_brought(const BlockWanted& wanted, format::BlockHandle read, Way way);
  BlockPriority priority() const noexcept;
  /// Returns the bytes to read at once: the block, and the blocks that the scan needs next.
  format::BlockHandle window(const BlockWanted& wanted, Way way) const noexcept;

  const TableFile& file_;
  BlockReader& blocks_;
  ReadCost* const cost_;
  std::uint64_t window_bytes_ = 0;    // of the last reading ahead; zero: none yet
  std::uint64_t expected_bytes_ = 0;  // that the scan will still take, as far as known
  bool is_long_ = false;
  bool is_followed_ = false;                   // the store's thread may be ahead of this scan
  std::unique_ptr<BlockReader::Tools> tools_;  // from the first reading ahead on
};

}  // namespace varve::engine
