// Owns: the memory of the blocks of one shard: spans, divided into slots of one size each, and which slots are free.
// Must never: let a slot be in two hands; keep a span in which no block lies.
//
// Blocks come and go at random, and their sizes change with what is read: what is free is then scattered over spans
// that all hold something. So who owns the blocks empties the sparsest spans, by moving what lies in them:
//
//   while (memory.is_scattered() && (node = memory.next_to_move()) != nullptr) ... move it to allocate_beside(...)
//
// which is worth it: to move a block costs a small part of what reading one does, and an allocator that moves nothing
// was seen to hold twice the bytes of the blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/cache/block_node.h"
#include "engine/cache/block_size.h"
#include "engine/cache/span_source.h"

namespace varve::engine {

class BlockMemory;

/// Where a block's memory comes from; every block names one.
struct BlockSpan {
  CacheShard* shard = nullptr;
  BlockMemory* memory = nullptr;
  SpanSource::Span place;  // empty: each block is a piece of its own
  std::byte* slots = nullptr;
  std::uint32_t slot_bytes = 0;
  std::uint32_t slot_count = 0;
  std::uint32_t free_count = 0;
  bool is_left = false;   // no block comes here any more: they are on their way out
  bool is_stuck = false;  // something in it could not be moved when that was tried
  std::array<std::uint64_t, 2> free{};
  // Among those of its size that have a free slot and are not left; and among all.
  BlockSpan* next_open = nullptr;
  BlockSpan* previous_open = nullptr;
  std::unique_ptr<BlockSpan> next;
  BlockSpan* previous = nullptr;

  std::uint64_t free_bytes() const noexcept { return std::uint64_t{free_count} * slot_bytes; }
  std::uint32_t used_count() const noexcept { return slot_count - free_count; }
};

/// One thread at a time.
class BlockMemory {
 public:
  BlockMemory(CacheShard* shard, SpanSource& source) noexcept;
  ~BlockMemory();  // holds no block
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  /// A block whose content is not initialised. Null when the system has no memory.
  BlockNode* allocate(std::uint32_t content_bytes, std::uint8_t type) noexcept;
  /// The same in a slot of a span that is there already. Null when there is none.
  BlockNode* allocate_beside(std::uint32_t content_bytes, std::uint8_t type) noexcept;
  void free(BlockNode& node) noexcept;

  /// Of the slots in which blocks lie.
  std::uint64_t slot_bytes() const noexcept { return slot_bytes_; }
  /// Of the slots in which none does, in spans that are not left.
  std::uint64_t free_bytes() const noexcept { return free_bytes_; }

  /// More is free than is worth keeping, and as far as is known some span can be emptied into others.
  bool is_scattered() const noexcept { return free_bytes_ > free_bytes_max() && free_bytes_ >= worth_a_look_at_; }
  /// Of the span that is emptied now; chooses it if there is none. Zero when there is none to choose.
  std::uint64_t bytes_to_move() noexcept;
  /// A block of that span which the cache alone holds. Each is told once. Null when there is none left.
  BlockNode* next_to_move() noexcept;
  /// There was no slot for what had to move.
  void stop_moving() noexcept;

 private:
  /// By how many slots a span of that size has.
  struct SlotSize {
    BlockSpan* open = nullptr;
    std::uint64_t free_slots = 0;  // of the open spans
  };

  BlockSpan* add_span(std::size_t bytes) noexcept;
  void remove(BlockSpan& span) noexcept;
  BlockNode* take_slot(BlockSpan& span, std::uint32_t content_bytes, std::uint8_t type) noexcept;
  void count_free(const BlockSpan& span, std::int64_t slots) noexcept;
  void open(BlockSpan& span) noexcept;
  void close(BlockSpan& span) noexcept;
  BlockSpan* sparsest() noexcept;
  void look_later() noexcept;
  void put_back() noexcept;
  std::uint64_t free_bytes_max() const noexcept;

  SpanSource& source_;
  BlockSpan own_;  // of blocks that are pieces of their own
  std::array<SlotSize, kSlotsMax + 1> sizes_{};
  std::unique_ptr<BlockSpan> spans_;
  BlockSpan* emptied_ = nullptr;  // being emptied
  std::uint32_t looked_at_ = 0;   // slots of it
  bool is_stuck_ = false;         // something in it cannot be moved
  std::uint32_t next_colour_ = 0;
  std::uint64_t span_count_ = 0;
  std::uint64_t slot_bytes_ = 0;
  std::uint64_t free_bytes_ = 0;
  std::uint64_t worth_a_look_at_ = 0;  // free bytes
};

}  // namespace varve::engine
