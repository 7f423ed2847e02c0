// Owns: the memory of one shard's blocks: spans, each divided into slots of one size, and the account of free slots.
// Must never: give a slot to two blocks, or keep a span without blocks.
//
// Blocks come and go at random, and their sizes change with the reads. So the free slots become scattered over spans
// that all hold some block. The owner of the blocks therefore empties the sparsest spans, by moving their blocks:
//
//     while (memory.is_scattered() && (node = memory.next_to_move()) != nullptr) ... move it to allocate_beside(...)
//
// Moving a block costs a small part of the cost of reading one. An allocator that moves nothing was measured to hold
// twice the bytes of its blocks.
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

/// The source of a block's memory. Every block points to one.
struct BlockSpan {
  CacheShard* shard = nullptr;
  BlockMemory* memory = nullptr;
  SpanSource::Span place;  // empty: each block is a piece of its own
  std::byte* slots = nullptr;
  std::uint32_t slot_bytes = 0;
  std::uint32_t slot_count = 0;
  std::uint32_t free_count = 0;
  bool is_left = false;   // takes no new blocks, since it is being emptied
  bool is_stuck = false;  // a block in it could not be moved at the last attempt
  std::array<std::uint64_t, 2> free{};
  // Links in the list of open spans of this slot size (with a free slot, and not left), and in the list of all spans.
  BlockSpan* next_open = nullptr;
  BlockSpan* previous_open = nullptr;
  std::unique_ptr<BlockSpan> next;
  BlockSpan* previous = nullptr;

  std::uint64_t free_bytes() const noexcept { return std::uint64_t{free_count} * slot_bytes; }
  std::uint32_t used_count() const noexcept { return slot_count - free_count; }
};

/// Used by one thread at a time.
class BlockMemory {
 public:
  BlockMemory(CacheShard* shard, SpanSource& source) noexcept;
  ~BlockMemory();  // holds no block
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  /// Returns a block with uninitialised content, or null if the system has no memory.
  BlockNode* allocate(std::uint32_t content_bytes, std::uint8_t type) noexcept;
  /// Returns a block in a slot of an existing span, or null if no such slot is free.
  BlockNode* allocate_beside(std::uint32_t content_bytes, std::uint8_t type) noexcept;
  void free(BlockNode& node) noexcept;

  /// Returns the bytes of the slots that hold blocks.
  std::uint64_t slot_bytes() const noexcept { return slot_bytes_; }
  /// Returns the bytes of the free slots in spans that are not left.
  std::uint64_t free_bytes() const noexcept { return free_bytes_; }

  /// Returns whether more bytes are free than are worth keeping, unless the last search found no span that can be
  /// emptied.
  bool is_scattered() const noexcept { return free_bytes_ > free_bytes_max() && free_bytes_ >= worth_a_look_at_; }
  /// Returns the slot size of the span that is being emptied; chooses a span if there is none. Returns zero if there is
  /// none to choose.
  std::uint64_t bytes_to_move() noexcept;
  /// Returns a block of that span that only the cache holds. Each block is returned once; null at the end.
  BlockNode* next_to_move() noexcept;
  /// Stops emptying, because there was no slot for the block to move.
  void stop_moving() noexcept;

 private:
  /// The spans with the same number of slots, and therefore the same slot size.
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
  BlockSpan* emptied_ = nullptr;  // the span being emptied
  std::uint32_t looked_at_ = 0;   // slots of that span looked at so far
  bool is_stuck_ = false;         // a block in that span cannot be moved
  std::uint32_t next_colour_ = 0;
  std::uint64_t span_count_ = 0;
  std::uint64_t slot_bytes_ = 0;
  std::uint64_t free_bytes_ = 0;
  std::uint64_t worth_a_look_at_ = 0;  // free bytes from which a search for a span is worthwhile
};

}  // namespace varve::engine
