// Owns: the choice of a slot, and of the span to empty.
// Must never: read the content of a block.

#include "engine/cache/block_memory.h"

#include <bit>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "engine/base/poison.h"

namespace varve::engine {

namespace {

constexpr std::align_val_t kBlockAlignment{CachedBlock::kHeaderBytes};
/// Byte that overwrites a freed block, so that a late reader reads nonsense and not old data. Only the header is
/// overwritten, except in VARVE_VERIFY builds.
constexpr int kScribble = 0xDB;
/// The bytes that may be free: one part in kFreePart of all spans, plus the rest of some open spans.
constexpr std::uint64_t kFreePart = 32;
constexpr std::uint64_t kFreeAlways = 2 * kSpanBytes;

static_assert(kSlotsMax <= 128);

constexpr std::uint64_t bit(std::uint32_t slot) noexcept {
  return std::uint64_t{1} << (slot % 64);
}

std::size_t bytes_of(std::uint32_t content_bytes) noexcept {
  return CachedBlock::kHeaderBytes + std::size_t{content_bytes};
}

std::uint32_t first_free(const BlockSpan& span) noexcept {
  return static_cast<std::uint32_t>(span.free[0] != 0 ? std::countr_zero(span.free[0])
                                                      : 64 + std::countr_zero(span.free[1]));
}

std::span<std::byte> slots_of(const BlockSpan& span) noexcept {
  return {span.slots, std::size_t{span.slot_count} * span.slot_bytes};
}

void end(BlockNode& node) noexcept {
#ifdef VARVE_VERIFY
  const std::size_t scribbled_bytes = bytes_of(static_cast<std::uint32_t>(node.content().size()));
#else
  const std::size_t scribbled_bytes = CachedBlock::kHeaderBytes;  // includes the size; this line is owned already
#endif
  node.~BlockNode();
  void* const memory = &node;
  std::memset(memory, kScribble, scribbled_bytes);
  asm volatile("" : : "r"(memory) : "memory");  // keeps the compiler from removing a store that no code reads
}

}  // namespace

BlockMemory::BlockMemory(CacheShard* shard, SpanSource& source) noexcept : source_(source) {
  own_.shard = shard;
  own_.memory = this;
}

BlockMemory::~BlockMemory() {
  assert(spans_ == nullptr && slot_bytes_ == 0 && free_bytes_ == 0);
}

BlockNode* BlockMemory::allocate(std::uint32_t content_bytes, std::uint8_t type) noexcept {
  const std::size_t bytes = bytes_of(content_bytes);
  if (has_slot(bytes)) {
    if (sizes_[slots_for(bytes)].open == nullptr && add_span(bytes) == nullptr) return nullptr;
    return allocate_beside(content_bytes, type);
  }
  void* const memory = ::operator new(bytes, kBlockAlignment, std::nothrow);
  return memory == nullptr ? nullptr : new (memory) BlockNode(content_bytes, type, own_);
}

BlockNode* BlockMemory::allocate_beside(std::uint32_t content_bytes, std::uint8_t type) noexcept {
  assert(has_slot(bytes_of(content_bytes)));
  BlockSpan* const span = sizes_[slots_for(bytes_of(content_bytes))].open;
  return span == nullptr ? nullptr : take_slot(*span, content_bytes, type);
}

BlockNode* BlockMemory::take_slot(BlockSpan& span, std::uint32_t content_bytes, std::uint8_t type) noexcept {
  const std::uint32_t slot = first_free(span);
  assert(slot < span.slot_count);
  span.free[slot / 64] &= ~bit(slot);
  --span.free_count;
  count_free(span, -1);
  slot_bytes_ += span.slot_bytes;
  if (span.free_count == 0) close(span);
  std::byte* const memory = span.slots + std::size_t{slot} * span.slot_bytes;
  allow({memory, bytes_of(content_bytes)});
  return new (memory) BlockNode(content_bytes, type, span);
}

void BlockMemory::free(BlockNode& node) noexcept {
  BlockSpan& span = *node.span;
  assert(span.memory == this);
  end(node);
  if (&span == &own_) return ::operator delete(&node, kBlockAlignment);
  const auto offset = static_cast<std::size_t>(reinterpret_cast<std::byte*>(&node) - span.slots);
  const auto slot = static_cast<std::uint32_t>(offset / span.slot_bytes);
  assert(slot * std::size_t{span.slot_bytes} == offset && slot < span.slot_count);
  assert((span.free[slot / 64] & bit(slot)) == 0);
  forbid({span.slots + offset, span.slot_bytes});
  span.free[slot / 64] |= bit(slot);
  ++span.free_count;
  slot_bytes_ -= span.slot_bytes;
  if (!span.is_left) {
    count_free(span, 1);
    if (span.free_count == 1) open(span);
  }
  if (span.used_count() == 0) remove(span);
}

/// Counts `slots` more free slots (or fewer, if negative) in a span that is not left.
void BlockMemory::count_free(const BlockSpan& span, std::int64_t slots) noexcept {
  sizes_[span.slot_count].free_slots += static_cast<std::uint64_t>(slots);
  free_bytes_ += static_cast<std::uint64_t>(slots) * span.slot_bytes;
}

/// Adds the span at the front of its list. The span opened last is filled first, so that other spans can become empty.
void BlockMemory::open(BlockSpan& span) noexcept {
  BlockSpan*& first = sizes_[span.slot_count].open;
  span.previous_open = nullptr;
  span.next_open = first;
  if (first != nullptr) first->previous_open = &span;
  first = &span;
}

void BlockMemory::close(BlockSpan& span) noexcept {
  if (span.next_open != nullptr) span.next_open->previous_open = span.previous_open;
  (span.previous_open == nullptr ? sizes_[span.slot_count].open : span.previous_open->next_open) = span.next_open;
}

BlockSpan* BlockMemory::add_span(std::size_t bytes) noexcept {
  std::unique_ptr<BlockSpan> span(new (std::nothrow) BlockSpan);
  if (span == nullptr) return nullptr;
  span->place = source_.take();
  if (span->place.begin == nullptr) return nullptr;
  span->shard = own_.shard;
  span->memory = this;
  span->slot_bytes = static_cast<std::uint32_t>(slot_bytes_for(bytes));
  span->slot_count = static_cast<std::uint32_t>(slots_for(bytes));
  const std::size_t left = kSpanBytes - std::size_t{span->slot_count} * span->slot_bytes;
  span->slots = span->place.begin + next_colour_++ % (left / kCacheLineBytes + 1) * kCacheLineBytes;
  span->free_count = span->slot_count;
  for (std::uint32_t slot = 0; slot < span->slot_count; ++slot) span->free[slot / 64] |= bit(slot);
  if (spans_ != nullptr) spans_->previous = span.get();
  span->next = std::move(spans_);
  spans_ = std::move(span);
  ++span_count_;
  count_free(*spans_, spans_->free_count);
  open(*spans_);
  forbid(slots_of(*spans_));
  return spans_.get();
}

void BlockMemory::remove(BlockSpan& span) noexcept {
  assert(span.used_count() == 0);
  if (&span == emptied_) emptied_ = nullptr;
  if (!span.is_left) {
    count_free(span, -std::int64_t{span.free_count});
    close(span);
  }
  if (span.next != nullptr) span.next->previous = span.previous;
  std::unique_ptr<BlockSpan>& held = span.previous == nullptr ? spans_ : span.previous->next;
  const std::unique_ptr<BlockSpan> removed = std::exchange(held, std::move(span.next));
  --span_count_;
  worth_a_look_at_ = 0;
  allow(slots_of(span));
  source_.give_back(span.place);
}

std::uint64_t BlockMemory::free_bytes_max() const noexcept {
  return kFreeAlways + span_count_ * kSpanBytes / kFreePart;
}

std::uint64_t BlockMemory::bytes_to_move() noexcept {
  if (emptied_ == nullptr) {
    emptied_ = sparsest();
    if (emptied_ == nullptr) {
      look_later();
      return 0;
    }
    count_free(*emptied_, -std::int64_t{emptied_->free_count});
    close(*emptied_);
    emptied_->is_left = true;
    looked_at_ = 0;
    is_stuck_ = false;
  }
  return emptied_->slot_bytes;
}

/// Returns the span with most free bytes whose blocks fit into other spans of its size. Spans known to hold a block
/// that cannot be moved are skipped.
BlockSpan* BlockMemory::sparsest() noexcept {
  BlockSpan* found = nullptr;
  for (BlockSpan* span = spans_.get(); span != nullptr; span = span->next.get()) {
    if (span->is_left || span->free_count == 0 || span->is_stuck) continue;
    if (sizes_[span->slot_count].free_slots - span->free_count < span->used_count()) continue;
    if (found == nullptr || span->free_bytes() > found->free_bytes()) found = span;
  }
  return found;
}

BlockNode* BlockMemory::next_to_move() noexcept {
  while (emptied_ != nullptr && looked_at_ < emptied_->slot_count) {
    const std::uint32_t slot = looked_at_++;
    if ((emptied_->free[slot / 64] & bit(slot)) != 0) continue;
    auto* const node = reinterpret_cast<BlockNode*>(emptied_->slots + std::size_t{slot} * emptied_->slot_bytes);
    const std::uint32_t state = node->state.load(std::memory_order_relaxed);
    if (state == BlockNode::kCached) return node;
    is_stuck_ |= state != 0 || !node->indexed;  // pinned, or still being filled; other blocks will soon be freed
  }
  if (emptied_ != nullptr && is_stuck_) {
    emptied_->is_stuck = true;
    put_back();
  }
  emptied_ = nullptr;
  return nullptr;
}

void BlockMemory::stop_moving() noexcept {
  if (emptied_ != nullptr) put_back();
  look_later();
}

/// Lets the span that was being emptied take blocks again.
void BlockMemory::put_back() noexcept {
  BlockSpan& span = *emptied_;
  emptied_ = nullptr;
  span.is_left = false;
  count_free(span, span.free_count);
  open(span);
}

/// Delays the next search, which reads all spans. After a search without result, none can succeed before more bytes are
/// free.
void BlockMemory::look_later() noexcept {
  for (BlockSpan* span = spans_.get(); span != nullptr; span = span->next.get()) span->is_stuck = false;
  worth_a_look_at_ = free_bytes_ + kSpanBytes / 8 + span_count_ * kCacheLineBytes;
}

}  // namespace varve::engine
