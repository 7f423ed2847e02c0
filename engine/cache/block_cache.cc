// Owns: the division of the cache into shards, and the sums over them.

#include "engine/cache/block_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace varve::engine {

namespace {

/// Bytes of a shard's share, if there is enough for two shards: room for blocks of some MiB.
constexpr std::uint64_t kShardBytes = 8 << 20;

std::uint64_t shard_count_for(std::uint64_t bytes_max) noexcept {
  const std::uint64_t count = std::clamp<std::uint64_t>(bytes_max / kShardBytes, 1, BlockCache::kShardsMax);
  return std::bit_floor(count);
}

template <std::size_t... kIndex>
std::array<CacheShard, sizeof...(kIndex)> make_shards(io::Scheduler& scheduler, ReadEpoch& epoch, SpanSource& spans,
                                                      std::index_sequence<kIndex...>) noexcept {
  return {{(static_cast<void>(kIndex), CacheShard(scheduler, epoch, spans))...}};
}

}  // namespace

BlockCache::BlockCache(io::Scheduler& scheduler, std::uint64_t bytes_max) noexcept
    : shard_mask_(shard_count_for(bytes_max) - 1),
      spans_(scheduler),
      shards_(make_shards(scheduler, epoch_, spans_, std::make_index_sequence<kShardsMax>())),
      resizing_(scheduler) {
  set_bytes_max(bytes_max);
}

BlockCache::~BlockCache() = default;

const CachedBlock* BlockCache::ReadGuard::find(std::uint64_t file_id, std::uint64_t offset) noexcept {
  const BlockKey key{file_id, offset};
  const std::uint64_t hash = hash_of(key);
  BlockNode* const node = cache_.shard_of(hash).find(key, hash);
  if (node == nullptr) {
    guard_.count_miss();
    return nullptr;
  }
  node->visit();
  guard_.count_hit();
  return node;
}

const CachedBlock* BlockCache::ReadGuard::find(const CacheLink& link) noexcept {
  BlockNode* const node = link.block_.load(std::memory_order_seq_cst);
  if (node == nullptr) return nullptr;
  node->visit();
  guard_.count_hit();
  return node;
}

void BlockCache::ReadGuard::prefetch_place(std::uint64_t file_id, std::uint64_t offset) noexcept {
  const std::uint64_t hash = hash_of({file_id, offset});
  cache_.shard_of(hash).prefetch_place(hash);
}

void BlockCache::ReadGuard::prefetch(std::uint64_t file_id, std::uint64_t offset) noexcept {
  const BlockKey key{file_id, offset};
  const std::uint64_t hash = hash_of(key);
  cache_.shard_of(hash).prefetch(key, hash);
}

PinnedBlock BlockCache::ReadGuard::pin(const CachedBlock& found) noexcept {
  // Only the cache creates blocks, and none of them is const.
  return CacheShard::pin(const_cast<BlockNode&>(static_cast<const BlockNode&>(found)));
}

PinnedBlock BlockCache::pin(std::uint64_t file_id, std::uint64_t offset) noexcept {
  ReadEpoch::Guard guard(epoch_);
  return pin_under(guard, {file_id, offset});
}

PinnedBlock BlockCache::pin(std::uint64_t file_id, std::uint64_t offset, std::uint64_t next_offset) noexcept {
  ReadEpoch::Guard guard(epoch_);
  PinnedBlock pinned = pin_under(guard, {file_id, offset});
  const BlockKey next{file_id, next_offset};
  const std::uint64_t hash = hash_of(next);
  shard_of(hash).prefetch(next, hash);
  return pinned;
}

PinnedBlock BlockCache::pin_under(ReadEpoch::Guard& guard, BlockKey key) noexcept {
  const std::uint64_t hash = hash_of(key);
  BlockNode* const node = shard_of(hash).find(key, hash);
  PinnedBlock pinned = node == nullptr ? PinnedBlock() : CacheShard::pin(*node);
  if (!pinned) {
    guard.count_miss();
    return pinned;
  }
  node->visit();
  guard.count_hit();
  return pinned;
}

bool BlockCache::contains(std::uint64_t file_id, std::uint64_t offset) noexcept {
  const BlockKey key{file_id, offset};
  const std::uint64_t hash = hash_of(key);
  const ReadEpoch::Guard guard(epoch_);
  return shard_of(hash).find(key, hash) != nullptr;
}

std::vector<ListedBlock> BlockCache::list() const {
  std::vector<ListedBlock> blocks;
  for (std::uint64_t i = 0; i <= shard_mask_; ++i) {
    // Room is reserved without the mutex. Blocks that were added since and find no room are left out.
    constexpr std::uint64_t kAddedMax = 64;
    blocks.reserve(blocks.size() + shards_[i].block_count() + kAddedMax);
    shards_[i].for_each([&blocks](const BlockKey& key, bool is_proven) {
      if (blocks.size() < blocks.capacity()) blocks.push_back({key.file_id, key.offset, is_proven});
    });
  }
  return blocks;
}

Result<Block> BlockCache::allocate(std::uint64_t file_id, std::uint64_t offset, std::uint32_t size_bytes,
                                   std::uint8_t type) noexcept {
  return shard_of(hash_of({file_id, offset})).allocate(size_bytes, type);
}

PinnedBlock BlockCache::insert(std::uint64_t file_id, std::uint64_t offset, Block block,
                               BlockPriority priority) noexcept {
  const BlockKey key{file_id, offset};
  const std::uint64_t hash = hash_of(key);
  return shard_of(hash).insert(key, hash, std::move(block), priority);
}

void BlockCache::link(std::uint64_t file_id, std::uint64_t offset, CacheLink& link) noexcept {
  const BlockKey key{file_id, offset};
  const std::uint64_t hash = hash_of(key);
  shard_of(hash).link(key, hash, link);
}

void BlockCache::unlink(std::uint64_t file_id, std::uint64_t offset, CacheLink& link) noexcept {
  if (link.is_set()) shard_of(hash_of({file_id, offset})).unlink(link);
}

void BlockCache::begin_file(std::uint64_t file_id) noexcept {
  for (std::uint64_t at = 0; at <= shard_mask_; ++at) shards_[at].begin_file(file_id);
}

void BlockCache::erase_file(std::uint64_t file_id) noexcept {
  for (std::uint64_t at = 0; at <= shard_mask_; ++at) shards_[at].erase_file(file_id);
}

void BlockCache::set_bytes_max(std::uint64_t bytes_max) noexcept {
  const io::MutexGuard guard(resizing_);
  bytes_max_.store(bytes_max, std::memory_order_relaxed);
  divide_budget();
}

void BlockCache::divide_budget() noexcept {
  const std::uint64_t beside = beside_bytes_.load(std::memory_order_relaxed);
  divided_beside_bytes_.store(beside, std::memory_order_relaxed);
  const std::uint64_t all = bytes_max();
  const std::uint64_t share = (all - std::min(beside, all / 2)) / (shard_mask_ + 1);
  for (std::uint64_t at = 0; at <= shard_mask_; ++at) shards_[at].set_budget(share);
}

void BlockCache::add_beside(std::uint64_t bytes) noexcept {
  const std::uint64_t now = beside_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const std::uint64_t divided = divided_beside_bytes_.load(std::memory_order_relaxed);
  const std::uint64_t change = now > divided ? now - divided : divided - now;
  if (change <= bytes_max() / kBesideSteps) return;
  const io::MutexGuard guard(resizing_);
  divide_budget();
}

BlockCacheFigures BlockCache::figures() const noexcept {
  BlockCacheFigures figures;
  figures.bytes_max = bytes_max();
  figures.beside_bytes = beside_bytes_.load(std::memory_order_relaxed);
  figures.span_bytes = spans_.held_bytes();
  figures.hits = epoch_.hits();
  figures.misses = epoch_.misses();
  for (const CacheShard& shard : shards_) {
    figures.used_bytes += shard.used_bytes();
    figures.pinned_bytes += shard.pinned_bytes();
    figures.slot_bytes += shard.slot_bytes();
    figures.block_count += shard.block_count();
    figures.moves += shard.moves();
    figures.evictions += shard.evictions();
    figures.refusals += shard.refusals();
  }
  return figures;
}

void BlockCache::check_invariants() const noexcept {
  for (const CacheShard& shard : shards_) shard.check_invariants();
}

}  // namespace varve::engine
