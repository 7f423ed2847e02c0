// Owns: how much a walk over one table reads at once, forward or backward: the more, the longer it has gone on.
// Must never: read outside the data of the run at hand: what lies there is known exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/read_cost.h"
#include "engine/tables/block_reader.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time.
class ReadAhead {
 public:
  /// All outlive it; `cost` may be null.
  ReadAhead(const TableFile& file, BlockReader& blocks, ReadCost* cost) noexcept
      : file_(file), blocks_(blocks), cost_(cost) {}
  ~ReadAhead() {
    if (tools_) blocks_.give_back(std::move(tools_));
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Where the walk comes from: anywhere, the block before, or the block behind.
  enum class Way : std::uint8_t { kJump, kForward, kBackward };
  /// A data block, from the cache, out of what was read ahead, or from the disk. All calls are about the file.
  /// Errors: those of BlockReader::get, and kOutOfMemory.
  Result<PinnedBlock> get(const BlockWanted& wanted, Way way);
  /// A walk begins that likely takes so many bytes: unless it jumps, it need not go on for long to read them at once.
  void expect(std::uint64_t bytes) noexcept;

 private:
  PinnedBlock pin(const BlockWanted& wanted, Way way) const noexcept;
  Status read_window(const BlockWanted& wanted, Way way);
  /// What the store's thread has brought, if this walk is one that it goes ahead of.
  std::optional<Result<PinnedBlock>> take_brought(const BlockWanted& wanted, Way way);
  void have_more_brought(const BlockWanted& wanted, format::BlockHandle read, Way way);
  BlockPriority priority() const noexcept;
  /// What is read at once: the block, and what the walk comes to next.
  format::BlockHandle window(const BlockWanted& wanted, Way way) const noexcept;

  const TableFile& file_;
  BlockReader& blocks_;
  ReadCost* const cost_;
  std::uint64_t window_bytes_ = 0;    // of the last reading ahead; zero: none yet
  std::uint64_t expected_bytes_ = 0;  // that the walk is yet to take, as far as that is known
  bool is_long_ = false;
  bool is_followed_ = false;                   // the store's thread may be ahead of this walk
  std::unique_ptr<BlockReader::Tools> tools_;  // from the first read ahead on
};

}  // namespace varve::engine
