// Owns: the decisions of S3-FIFO.

#include "engine/cache/eviction_order.h"

namespace varve::engine {

namespace {

/// The queue small is held at one part in kSmallPart of the bytes of all blocks of normal priority. The paper uses a
/// tenth.
constexpr std::uint64_t kSmallPart = 10;
/// The queue coming has at most one part in kComingPart of all bytes. The rest stays for the blocks that readers use
/// meanwhile, among them the predecessors.
constexpr std::uint64_t kComingPart = 3;

}  // namespace

void EvictionOrder::add(BlockNode& node, std::uint64_t hash, BlockPriority priority) noexcept {
  if (priority == BlockPriority::kHigh) {
    push(node, QueueName::kHigh);
  } else if (priority == BlockPriority::kSuccessor && coming().bytes() < bytes() / kComingPart) {
    push(node, QueueName::kComing);
  } else if (priority == BlockPriority::kSuccessor || ghosts_.take(hash, small().count() + main().count())) {
    push(node, QueueName::kMain);
  } else {
    push(node, QueueName::kSmall);
  }
}

void EvictionOrder::begin(BlockNode& node) noexcept {
  if (node.queue != QueueName::kComing) return;
  remove(node);
  node.visit();
  push(node, QueueName::kMain);
}

BlockNode* EvictionOrder::take_victim(std::uint64_t high_protected_bytes) noexcept {
  for (std::uint64_t pardons = 0;; ++pardons) {
    const QueueName from = queue_to_shorten(high_protected_bytes);
    BlockNode* const node = queue(from).oldest();
    if (node == nullptr) return nullptr;
    const bool stays = pardons < kPardonsMax && node->take_visit();
    queue(from).remove(*node);
    if (!stays) {
      if (from == QueueName::kSmall) ghosts_.add(hash_of(node->key));
      return node;
    }
    push(*node, from == QueueName::kSmall ? QueueName::kMain : from);
  }
}

QueueName EvictionOrder::queue_to_shorten(std::uint64_t high_protected_bytes) const noexcept {
  const std::uint64_t normal_bytes = small().bytes() + main().bytes();
  if (normal_bytes == 0 && high().count() == 0) return QueueName::kComing;
  if (high().bytes() > high_protected_bytes || normal_bytes == 0) return QueueName::kHigh;
  if (main().count() == 0 || small().bytes() >= normal_bytes / kSmallPart) {
    return small().count() > 0 ? QueueName::kSmall : QueueName::kMain;
  }
  return QueueName::kMain;
}

void EvictionOrder::push(BlockNode& node, QueueName name) noexcept {
  node.queue = name;
  queue(name).push(node);
}

}  // namespace varve::engine
