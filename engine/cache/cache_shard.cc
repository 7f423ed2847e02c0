// Owns: how a shard makes room, and its behaviour if there is none.
// Must never: evict more than one insert needs, even if the evicted blocks are not freed yet.

#include "engine/cache/cache_shard.h"

#include <cassert>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

namespace varve::engine {

namespace {

/// Returns the bytes that data cannot take from blocks of high priority: four fifths of the budget. A partition leads
/// to about 200 data blocks, and is missed as often as all of them together.
constexpr std::uint64_t high_protected_bytes(std::uint64_t budget_bytes) noexcept {
  return budget_bytes / 5 * 4;
}
/// Returns the largest block that is cached. A larger block would evict too much at once.
constexpr std::uint64_t block_bytes_max(std::uint64_t budget_bytes) noexcept {
  return budget_bytes / 2;
}
std::uint64_t tables_bytes_for(std::uint64_t bucket_count) noexcept {
  return BlockIndex::bytes_for(bucket_count) + GhostTable::bytes_for(bucket_count);
}
std::uint64_t buckets_for(std::uint64_t block_count) noexcept {
  std::uint64_t buckets = 1;
  while (BlockIndex::room_in(buckets) < block_count) buckets *= 2;
  return buckets;
}
/// Largest number of blocks moved to free spans: in one insert, and in the erasure of a file. The first number bounds
/// the cost of an insert; later inserts continue the work.
constexpr std::uint64_t kMovesOfInsert = 4;
constexpr std::uint64_t kMovesOfErase = 256;
/// Time that set_budget() sleeps between two checks of the guards.
constexpr std::chrono::microseconds kPause{50};

}  // namespace

CacheShard::CacheShard(io::Scheduler& scheduler, ReadEpoch& epoch, SpanSource& spans) noexcept
    : epoch_(epoch), mutex_(scheduler), pause_(scheduler), memory_(this, spans), retired_(epoch) {}

CacheShard::~CacheShard() {
  const io::MutexGuard guard(mutex_);
  assert(held_by_pins_bytes_ == 0);
  order_.for_each([this](BlockNode& node) VARVE_NO_THREAD_SAFETY_ANALYSIS {
    assert(node.state.load(std::memory_order_acquire) == BlockNode::kCached);
    assert(node.link == nullptr);
    memory_.free(node);
  });
}

Result<Block> CacheShard::allocate(std::uint32_t size_bytes, std::uint8_t type) noexcept {
  assert(!ReadEpoch::held_by_this_thread());
  const io::MutexGuard guard(mutex_);
  BlockNode* const node = memory_.allocate(size_bytes, type);
  if (node == nullptr) return Status::out_of_memory();
  publish_figures();
  return Block(node);
}

void CacheShard::discard(BlockNode& node) noexcept {
  assert(!ReadEpoch::held_by_this_thread());
  const io::MutexGuard guard(mutex_);
  memory_.free(node);
  publish_figures();
}

PinnedBlock CacheShard::insert(BlockKey key, std::uint64_t hash, Block block, BlockPriority priority) noexcept {
  assert(block);
  assert(!ReadEpoch::held_by_this_thread());
  const io::MutexGuard guard(mutex_);
  if (BlockNode* const present = find(key, hash); present != nullptr) {
    present->visit();
    return pin(*present);  // Cannot fail: the cache holds the block, and this thread has the mutex.
  }
  BlockNode& node = *block.node_.release();
  node.key = key;
  assert(node.span->shard == this);
  if (!admit(node, hash, priority)) {
    node.state.store(BlockNode::kOnePin, std::memory_order_relaxed);
    node.beyond_budget = true;
    held_by_pins_bytes_ += node.memory_bytes();
    refusals_.store(refusals() + 1, std::memory_order_relaxed);
  }
  gather_free_memory(kMovesOfInsert);
  publish_figures();
  return PinnedBlock(&node);
}

bool CacheShard::admit(BlockNode& node, std::uint64_t hash, BlockPriority priority) noexcept {
  if (node.memory_bytes() > block_bytes_max(budget_bytes_)) return false;
  if (priority == BlockPriority::kPassing && !has_room(node.memory_bytes()) && !order_.remembers(hash)) {
    order_.remember(hash);
    return false;
  }
  if (!make_slot()) return false;
  if (!make_room(node.memory_bytes())) return false;
  node.state.store(BlockNode::kCached + BlockNode::kOnePin, std::memory_order_relaxed);
  node.indexed = true;
  order_.add(node, hash, priority);
  index_owner_->insert(node, hash);  // H2. From here on readers find the block.
  return true;
}

bool CacheShard::index_has_room() const noexcept {
  return index_owner_ != nullptr && order_.count() < BlockIndex::room_in(index_owner_->bucket_count());
}

/// Returns whether the bytes fit without an eviction.
bool CacheShard::has_room(std::uint64_t bytes) const noexcept {
  const std::uint64_t table_bytes = index_has_room() ? 0 : tables_bytes_for(more_buckets());
  return used_now_bytes() + bytes + table_bytes <= budget_bytes_;
}

std::uint64_t CacheShard::more_buckets() const noexcept {
  return index_owner_ == nullptr ? 1 : 2 * index_owner_->bucket_count();
}

bool CacheShard::make_slot() noexcept {
  if (index_has_room()) return true;
  const std::uint64_t buckets = more_buckets();
  if (make_room(tables_bytes_for(buckets)) && resize_tables(buckets)) return true;
  // The old index stays in use, with fewer blocks.
  return index_owner_ != nullptr && evict_one();
}

bool CacheShard::make_room(std::uint64_t bytes) noexcept {
  while (kept_bytes() + bytes > budget_bytes_) {
    if (!evict_one()) return false;
  }
  // Guards are short, so an evicted block can usually be freed at once. A guard can last if the system has suspended
  // its thread. Then the new block stays outside the cache: no thread waits, and nothing more is evicted.
  for (std::uint64_t tries = 0; used_now_bytes() + bytes > budget_bytes_; ++tries) {
    if (tries == kTriesMax) return false;
    retired_.free_unseen();
  }
  return true;
}

bool CacheShard::evict_one() noexcept {
  BlockNode* const victim = order_.take_victim(high_protected_bytes(budget_bytes_));
  if (victim == nullptr) return false;
  detach(*victim);
  evictions_.store(evictions() + 1, std::memory_order_relaxed);
  return true;
}

void CacheShard::detach(BlockNode& node) noexcept {
  index_owner_->remove(node, hash_of(node.key));  // H2
  relink(node, nullptr);                          // K1
  give_up(node);
}

void CacheShard::relink(BlockNode& node, BlockNode* to) noexcept {
  CacheLink* const link = std::exchange(node.link, nullptr);
  if (link == nullptr) return;
  if (to != nullptr) to->link = link;
  link->block_.store(to, std::memory_order_seq_cst);
}

void CacheShard::link(BlockKey key, std::uint64_t hash, CacheLink& link) noexcept {
  assert(!ReadEpoch::held_by_this_thread());
  const io::MutexGuard guard(mutex_);
  BlockNode* const node = find(key, hash);
  if (node == nullptr || node->link != nullptr || link.is_set()) return;
  node->link = &link;
  link.block_.store(node, std::memory_order_seq_cst);  // K1
}

void CacheShard::unlink(CacheLink& link) noexcept {
  assert(!ReadEpoch::held_by_this_thread());
  const io::MutexGuard guard(mutex_);
  BlockNode* const node = link.block_.load(std::memory_order_relaxed);
  if (node != nullptr) relink(*node, nullptr);
}

/// Ends the cache's hold on a block that no new guard can find.
void CacheShard::give_up(BlockNode& node) noexcept {
  const std::uint32_t before = node.state.fetch_and(~BlockNode::kCached, std::memory_order_acq_rel);
  assert((before & BlockNode::kCached) != 0);
  if (before == BlockNode::kCached) {
    retired_.add(node);
  } else {
    node.beyond_budget = true;
    held_by_pins_bytes_ += node.memory_bytes();
  }
}

/// Empties sparse spans by moving their blocks into other spans. A moved block exists twice until guards have ended.
/// Both copies count within the budget (H1).
void CacheShard::gather_free_memory(std::uint64_t moves_max) noexcept {
  for (std::uint64_t moves = 0; moves < moves_max && memory_.is_scattered(); ++moves) {
    const std::uint64_t bytes = memory_.bytes_to_move();
    if (bytes == 0 || !make_room(bytes)) return;
    BlockNode* const from = memory_.next_to_move();  // after make_room(), which may have evicted the block
    if (from == nullptr) continue;
    BlockNode* const to = memory_.allocate_beside(static_cast<std::uint32_t>(from->content().size()), from->type());
    if (to == nullptr) return memory_.stop_moving();
    move(*from, *to);
  }
}

/// Replaces the block by its copy for readers: the name and content are equal. A reader that found the original under a
/// guard, or pins it at this moment, keeps the original.
void CacheShard::move(BlockNode& from, BlockNode& to) noexcept {
  std::memcpy(to.content_begin(), from.content().data(), from.content().size());
  to.key = from.key;
  to.indexed = true;
  to.visited.store(from.visited.load(std::memory_order_relaxed), std::memory_order_relaxed);
  to.state.store(BlockNode::kCached, std::memory_order_relaxed);
  moves_.store(moves() + 1, std::memory_order_relaxed);
  order_.replace(from, to);
  index_owner_->replace(from, to, hash_of(from.key));  // H2
  relink(from, &to);                                   // K1
  give_up(from);
}

bool CacheShard::resize_tables(std::uint64_t bucket_count) noexcept {
  BlockIndex::Owned made = BlockIndex::make(bucket_count);
  if (made == nullptr || !order_.ghosts().resize(bucket_count)) return false;
  order_.for_each([&made](BlockNode& node) { made->insert(node, hash_of(node.key)); });
  index_.store(made.get(), std::memory_order_seq_cst);
  retired_.add(std::exchange(index_owner_, std::move(made)));
  retired_.free_unseen();
  return true;
}

void CacheShard::drop_tables() noexcept {
  assert(order_.count() == 0);
  order_.ghosts().resize(0);
  index_.store(nullptr, std::memory_order_seq_cst);
  retired_.add(std::move(index_owner_));
}

void CacheShard::erase_file(std::uint64_t file_id) noexcept {
  assert(!ReadEpoch::held_by_this_thread());
  const io::MutexGuard guard(mutex_);
  if (index_owner_ == nullptr) return;
  index_owner_->for_each_of_file(file_id, [this](BlockNode& node) VARVE_NO_THREAD_SAFETY_ANALYSIS {
    order_.remove(node);
    detach(node);
  });
  retired_.free_unseen();
  gather_free_memory(kMovesOfErase);
  retired_.free_unseen();  // the originals
  publish_figures();
}

void CacheShard::begin_file(std::uint64_t file_id) noexcept {
  const io::MutexGuard guard(mutex_);
  if (index_owner_ == nullptr || !order_.awaits_files()) return;
  index_owner_->for_each_of_file(file_id,
                                 [this](BlockNode& node) VARVE_NO_THREAD_SAFETY_ANALYSIS { order_.begin(node); });
}

void CacheShard::set_budget(std::uint64_t bytes) noexcept {
  assert(!ReadEpoch::held_by_this_thread());
  const io::MutexGuard guard(mutex_);
  budget_bytes_ = bytes;
  shrink_to_budget();
  retired_.free_unseen();
  while (used_now_bytes() > budget_bytes_) {
    (void)pause_.wait_for(mutex_, kPause);
    retired_.free_unseen();
  }
  gather_free_memory(std::numeric_limits<std::uint64_t>::max());
  retired_.free_unseen();  // the originals
  publish_figures();
}

void CacheShard::shrink_to_budget() noexcept {
  while (order_.bytes() > budget_bytes_ && evict_one()) {
  }
  // Tables made for many more blocks would take the remaining blocks' memory. Smaller tables are made beside the old
  // ones.
  if (kept_bytes() > budget_bytes_ && index_owner_ != nullptr) {
    const std::uint64_t buckets = buckets_for(order_.count());
    if (buckets < index_owner_->bucket_count()) (void)resize_tables(buckets);
  }
  while (kept_bytes() > budget_bytes_ && evict_one()) {
  }
  if (kept_bytes() > budget_bytes_) drop_tables();
}

void CacheShard::let_go(BlockNode& node) noexcept {
  const io::MutexGuard guard(mutex_);
  held_by_pins_bytes_ -= node.memory_bytes();
  if (node.indexed) {
    retired_.add(node);
    retired_.free_unseen();
  } else {
    memory_.free(node);  // No guard ever saw it.
  }
  publish_figures();
}

std::uint64_t CacheShard::kept_bytes() const noexcept {
  const std::uint64_t index_bytes = index_owner_ == nullptr ? 0 : index_owner_->bytes();
  return order_.bytes() + index_bytes + order_.ghosts().bytes();
}

void CacheShard::publish_figures() noexcept {
  used_bytes_.store(used_now_bytes(), std::memory_order_relaxed);
  pinned_bytes_.store(held_by_pins_bytes_ + retired_.pinned_bytes(), std::memory_order_relaxed);
  slot_bytes_.store(memory_.slot_bytes(), std::memory_order_relaxed);
  block_count_.store(order_.count(), std::memory_order_relaxed);
}

void CacheShard::check_invariants() const noexcept {
  const io::MutexGuard guard(mutex_);
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  order_.for_each([&](const BlockNode& node) {
    assert(find(node.key, hash_of(node.key)) == &node);                              // H2
    assert((node.state.load(std::memory_order_relaxed) & BlockNode::kCached) != 0);  // H2
    assert(node.span->shard == this);
    assert(node.link == nullptr || node.link->block_.load(std::memory_order_relaxed) == &node);  // K1
    ++count;
    bytes += node.memory_bytes();
  });
  assert(count == order_.count());
  assert(bytes == order_.bytes());
  assert(used_now_bytes() <= budget_bytes_);  // H1
  assert(used_now_bytes() == used_bytes());
}

}  // namespace varve::engine
