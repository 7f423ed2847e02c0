// Owns: who goes when there is no room.
// Must never: own, free or unlink a block; or take long over one decision.
//
// Three queues, each in the order of arrival: S3-FIFO, and a third queue for what is worth more.
//
//   small  a block of normal priority begins here. The queue is held at a tenth of the bytes of such blocks. At its end
//          a block that was visited meanwhile goes to main; others leave, and are remembered by name (ghost_table.h).
//   main   blocks visited in small, and blocks that came back while they were remembered. At its end a visited block
//          begins again, without its mark; others leave.
//   high   blocks of high priority. Works as main does. While it holds no more than its protected share, it loses none
//          for the sake of other blocks.
//
// So a scan passes through small and leaves main and high as they are. What a long one comes by does not even enter
// where something would have to leave for it: it is remembered, as if it had been in small, and enters main when it is
// read again. A mark is one bit, set by the first hit after it
// was cleared; more counting would cost hits more and gains little here. No decision passes over more than kPardonsMax
// visited blocks: where all are hot, one of them goes.
// Source: J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.
#pragma once

#include <array>
#include <cstdint>

#include "engine/cache/block_node.h"
#include "engine/cache/block_queue.h"
#include "engine/cache/ghost_table.h"

namespace varve::engine {

enum class BlockPriority : std::uint8_t {
  kNormal,   // data
  kHigh,     // what leads to data: index and filter partitions
  kPassing,  // data that a long walk comes by
};

/// One thread at a time; visits may come from any.
class EvictionOrder {
 public:
  static constexpr std::uint64_t kPardonsMax = 1'000;

  /// Whether a block that is in no queue was here, or was remembered, lately.
  bool remembers(std::uint64_t hash) const noexcept { return ghosts_.has(hash, small().count() + main().count()); }
  void remember(std::uint64_t hash) noexcept { ghosts_.add(hash); }
  void add(BlockNode& node, std::uint64_t hash, BlockPriority priority) noexcept;
  void remove(BlockNode& node) noexcept { queue(node.queue).remove(node); }
  /// A copy takes the place of its original.
  void replace(BlockNode& from, BlockNode& to) noexcept {
    to.queue = from.queue;
    queue(from.queue).replace(from, to);
  }
  /// Removes the block that shall go. Null when there is none.
  BlockNode* take_victim(std::uint64_t high_protected_bytes) noexcept;

  std::uint64_t count() const noexcept { return small().count() + main().count() + high().count(); }
  std::uint64_t bytes() const noexcept { return small().bytes() + main().bytes() + high().bytes(); }
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

  QueueName queue_to_shorten(std::uint64_t high_protected_bytes) const noexcept;
  void push(BlockNode& node, QueueName name) noexcept;

  std::array<BlockQueue, 3> queues_;  // by QueueName
  GhostTable ghosts_;
};

}  // namespace varve::engine
