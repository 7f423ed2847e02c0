// Owns: the bags, one for each epoch.

#include "engine/cache/retired_blocks.h"

#include <cassert>
#include <utility>

#include "engine/cache/block_memory.h"

namespace varve::engine {

namespace {

/// Number of epochs after which no reader can see a bag.
constexpr std::uint64_t kEpochsToPass = 2;

}  // namespace

RetiredBlocks::~RetiredBlocks() {
  for (Bag& bag : bags_) empty(bag);
  assert(empty());
}

void RetiredBlocks::add(BlockNode& node) noexcept {
  Bag& bag = bag_of_now();
  node.newer = std::exchange(bag.nodes, &node);
  (node.beyond_budget ? pinned_bytes_ : used_bytes_) += node.memory_bytes();
}

void RetiredBlocks::add(BlockIndex::Owned index) noexcept {
  if (index == nullptr) return;
  Bag& bag = bag_of_now();
  used_bytes_ += index->bytes();
  index->next = std::move(bag.indexes);
  bag.indexes = std::move(index);
}

void RetiredBlocks::free_unseen() noexcept {
  free_passed();
  for (std::uint64_t step = 0; step < kEpochsToPass && !empty(); ++step) {
    if (!epoch_.try_advance()) return;
    free_passed();
  }
}

RetiredBlocks::Bag& RetiredBlocks::bag_of_now() noexcept {
  const std::uint64_t now = epoch_.now();  // E2: read after the memory to retire was unlinked
  Bag& bag = bags_[now % bags_.size()];
  if (bag.epoch != now) {
    static_assert(kEpochsToPass < std::tuple_size_v<decltype(bags_)>);
    empty(bag);
    bag.epoch = now;
  }
  return bag;
}

void RetiredBlocks::free_passed() noexcept {
  const std::uint64_t now = epoch_.now();
  for (Bag& bag : bags_) {
    if (bag.epoch + kEpochsToPass <= now) empty(bag);
  }
}

void RetiredBlocks::empty(Bag& bag) noexcept {
  for (BlockNode* node = std::exchange(bag.nodes, nullptr); node != nullptr;) {
    BlockNode* const next = node->newer;
    (node->beyond_budget ? pinned_bytes_ : used_bytes_) -= node->memory_bytes();
    node->span->memory->free(*node);
    node = next;
  }
  while (bag.indexes != nullptr) {
    used_bytes_ -= bag.indexes->bytes();
    bag.indexes = std::move(bag.indexes->next);
  }
}

}  // namespace varve::engine
