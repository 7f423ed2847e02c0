// Owns: the choice of the block to evict if there is no room.
// Must never: own, free or unlink a block, or spend long on one decision.
//
// There are four queues, each in the order of arrival. The algorithm is S3-FIFO, with a third queue for more valuable
// blocks, and a fourth for blocks that no reader can find yet.
//
// - small: a block of normal priority begins here. The queue is held at a tenth of the bytes of such blocks. At its
//   end, a block that was visited meanwhile moves to main. Other blocks are evicted, and their names are remembered
//   (ghost_table.h).
// - main: blocks visited in small, and blocks that came back while they were remembered. At its end, a visited block
//   begins again, with its mark cleared. Other blocks are evicted.
// - high: blocks of high priority. It works like main. While it holds at most its protected share, no block of it is
//   evicted for the sake of other blocks.
//
// - coming: blocks of a merge's output that succeed cached blocks (kSuccessor). Readers visit their predecessors until
//   the merge publishes its file, so a mark says nothing about them yet. Until then no other block evicts them. Then
//   begin() moves them to main with a mark, the place that their content has earned already. The queue has at most a third
//   of all bytes. Further successors enter main at once.
//
// So a scan passes through small and leaves main and high as they are. A block read by a long scan (kPassing) is not
// even added if another block would have to be evicted for it. Its name is remembered, as if it had been in small. It
// enters main when it is read again.
//
// A mark is one bit, set by the first hit after it was cleared. More counting would make hits slower and gain little
// here. No decision skips more than kPardonsMax visited blocks: if all blocks are hot, one of them is evicted.
//
// Source: J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.
#pragma once

#include <array>
#include <cstdint>

#include "engine/cache/block_node.h"
#include "engine/cache/block_queue.h"
#include "engine/cache/ghost_table.h"

namespace varve::engine {

enum class BlockPriority : std::uint8_t {
  kNormal,     // data
  kHigh,       // blocks that lead to data: index and filter partitions
  kPassing,    // data that a long scan reads in passing
  kSuccessor,  // data that a merge wrote again, and that was cached before
};

/// Used by one thread at a time, except that any thread may mark visits.
class EvictionOrder {
 public:
  static constexpr std::uint64_t kPardonsMax = 1'000;

  /// Returns whether a block that is in no queue was recently evicted from small, or recently remembered.
  bool remembers(std::uint64_t hash) const noexcept { return ghosts_.has(hash, small().count() + main().count()); }
  void remember(std::uint64_t hash) noexcept { ghosts_.add(hash); }
  void add(BlockNode& node, std::uint64_t hash, BlockPriority priority) noexcept;
  void remove(BlockNode& node) noexcept { queue(node.queue).remove(node); }
  /// Puts a copy in the place of its original.
  void replace(BlockNode& from, BlockNode& to) noexcept {
    to.queue = from.queue;
    queue(from.queue).replace(from, to);
  }
  /// Removes and returns the block to evict. Returns null if there is none.
  BlockNode* take_victim(std::uint64_t high_protected_bytes) noexcept;
  /// From now on readers find the block. Does nothing if it is not in the queue coming.
  void begin(BlockNode& node) noexcept;
  /// Returns whether the queue coming has a block.
  bool awaits_files() const noexcept { return coming().count() > 0; }

  std::uint64_t count() const noexcept { return small().count() + main().count() + high().count() + coming().count(); }
  std::uint64_t bytes() const noexcept { return small().bytes() + main().bytes() + high().bytes() + coming().bytes(); }
  GhostTable& ghosts() noexcept { return ghosts_; }
  const GhostTable& ghosts() const noexcept { return ghosts_; }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const BlockQueue& each : queues_) {
      for (BlockNode* node = each.oldest(); node != nullptr;) {
        BlockNode* const next = node->newer;  // `visit` may free the block
        visit(*node);
        node = next;
      }
    }
  }

 private:
  BlockQueue& queue(QueueName name) noexcept { return queues_[static_cast<std::size_t>(name)]; }
  const BlockQueue& queue(QueueName name) const noexcept { return queues_[static_cast<std::size_t>(name)]; }
  const BlockQueue& small() const noexcept { return queue(QueueName::kSmall); }
  const BlockQueue& main() const noexcept { return queue(QueueName::kMain); }
  const BlockQueue& high() const noexcept { return queue(QueueName::kHigh); }
  const BlockQueue& coming() const noexcept { return queue(QueueName::kComing); }

  QueueName queue_to_shorten(std::uint64_t high_protected_bytes) const noexcept;
  void push(BlockNode& node, QueueName name) noexcept;

  std::array<BlockQueue, 4> queues_;  // indexed by QueueName
  GhostTable ghosts_;
};

}  // namespace varve::engine
