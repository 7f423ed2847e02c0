// Owns: how the memory of a block is taken and given back.
// Must never: leave readable what was freed.

#include "engine/cache/cached_block.h"

#include <cassert>
#include <cstring>
#include <new>

#include "engine/cache/block_node.h"
#include "engine/cache/cache_shard.h"
#include "engine/cache/read_epoch.h"

namespace varve::engine {

static_assert(sizeof(BlockNode) <= CachedBlock::kHeaderBytes);
static_assert(CachedBlock::kHeaderBytes == kCacheLineBytes);

namespace {

constexpr std::align_val_t kCachedAlignment{CachedBlock::kHeaderBytes};
/// Overwrites what is freed, so that a reader who comes too late reads nonsense and not yesterday's block.
constexpr int kScribble = 0xDB;

}  // namespace

Result<Block> Block::allocate(std::uint32_t size_bytes, std::uint8_t type) noexcept {
  const std::size_t memory_bytes = CachedBlock::kHeaderBytes + std::size_t{size_bytes};
  void* const memory = ::operator new(memory_bytes, kCachedAlignment, std::nothrow);
  if (memory == nullptr) return Status::out_of_memory();
  return Block(new (memory) BlockNode(size_bytes, type));
}

void Block::Free::operator()(BlockNode* node) const noexcept {
  free_block(node);
}

void free_block(BlockNode* node) noexcept {
#ifdef VARVE_VERIFY
  const std::size_t scribbled_bytes = node->memory_bytes();
#else
  const std::size_t scribbled_bytes = CachedBlock::kHeaderBytes;  // the size among it: a cache line we own already
#endif
  node->~BlockNode();
  void* const memory = node;
  std::memset(memory, kScribble, scribbled_bytes);
  asm volatile("" : : "r"(memory) : "memory");  // or the compiler leaves out what nobody may read any more
  ::operator delete(memory, kCachedAlignment);
}

std::span<char> Block::content() noexcept {
  assert(node_ != nullptr);
  return {node_->content_begin(), node_->content().size()};
}

void Block::set_aux(std::uint64_t aux) noexcept {
  assert(node_ != nullptr);
  node_->set_aux(aux);
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
  if (before == BlockNode::kOnePin) node->shard->let_go(*node);  // B1
}

}  // namespace varve::engine
