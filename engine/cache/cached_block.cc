// Owns: the functions of a block's holders.
// Must never: free a block; its shard does.

#include "engine/cache/cached_block.h"

#include <cassert>

#include "engine/cache/block_memory.h"
#include "engine/cache/block_node.h"
#include "engine/cache/cache_shard.h"
#include "engine/cache/read_epoch.h"

namespace varve::engine {

static_assert(sizeof(BlockNode) <= CachedBlock::kHeaderBytes);
static_assert(CachedBlock::kHeaderBytes == kCacheLineBytes);

void Block::Free::operator()(BlockNode* node) const noexcept {
  node->span->shard->discard(*node);
}

std::span<char> Block::content() noexcept {
  assert(node_ != nullptr);
  return {node_->content_begin(), node_->content().size()};
}

const CachedBlock& PinnedBlock::operator*() const noexcept {
  assert(node_ != nullptr);
  return *node_;
}

PinnedBlock PinnedBlock::again() const noexcept {
  assert(node_ != nullptr);
  node_->state.fetch_add(BlockNode::kOnePin, std::memory_order_relaxed);
  return PinnedBlock(node_);
}

void PinnedBlock::release() noexcept {
  if (node_ == nullptr) return;
  assert(!ReadEpoch::held_by_this_thread());
  BlockNode* const node = std::exchange(node_, nullptr);
  const std::uint32_t before = node->state.fetch_sub(BlockNode::kOnePin, std::memory_order_acq_rel);
  assert(before >= BlockNode::kOnePin);
  if (before == BlockNode::kOnePin) node->span->shard->let_go(*node);  // B1
}

}  // namespace varve::engine
