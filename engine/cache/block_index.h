// Owns: the index from a block's name to the block, for any number of readers beside one writer.
// Must never: move an entry to another place, or let a reader miss a block that stays.
//
// The index is a table of buckets. A bucket is one cache line: seven slots and a count. A block is put into the first
// bucket with a free slot, starting at the bucket of its hash. Every full bucket that the block passes counts it. A
// reader goes on to the next bucket only if some block passed this one. So no entry ever moves, and a removed entry
// leaves no mark.
//
// A slot is one atomic word: 42 bits of the block's address, 8 bits of its size in cache lines, and a tag of 14 bits. The
// tag has 6 bits of the file's number and 8 bits of the hash. So a look-up reads one line of the index and the line of
// the block. A search for all blocks of a file reads few blocks of other files. A search of a block begins at its last
// lines. The size gives their place, so a look-up waits for them and for the block's header at once.
//
// I1  A slot that is not zero refers to a block in the cache.
// I2  A bucket's count is the number of blocks in the table that passed it.
//
// Source: N. Bronson, X. Shi, "Open-sourcing F14" (buckets with tags and counts of passing entries).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/cache/block_node.h"
#include "engine/cache/read_epoch.h"

namespace varve::engine {

class BlockIndex {
 public:
  struct Free {
    void operator()(BlockIndex* index) const noexcept;
  };
  using Owned = std::unique_ptr<BlockIndex, Free>;

  /// Creates a table with `bucket_count` buckets, a power of two. Returns null if the system has no memory.
  static Owned make(std::uint64_t bucket_count) noexcept;
  static std::uint64_t bytes_for(std::uint64_t bucket_count) noexcept {
    return sizeof(BlockIndex) + bucket_count * sizeof(Bucket);
  }
  /// Returns the number of blocks with which look-ups stay short.
  static std::uint64_t room_in(std::uint64_t bucket_count) noexcept { return bucket_count * kRoomPerBucket; }

  std::uint64_t bucket_count() const noexcept { return mask_ + 1; }
  std::uint64_t bytes() const noexcept { return bytes_for(bucket_count()); }

  /// Returns the block or null. A reader calls it under a guard, and sees every block that was inserted before the
  /// guard and stays. The writer may call it at any time.
  BlockNode* find(BlockKey key, std::uint64_t hash) const noexcept;
  /// Prefetches the start of the block from memory, if the block is in the bucket of its hash, as nearly all are. It
  /// compares tags only, so it may also prefetch another block. Called under a guard.
  void prefetch(BlockKey key, std::uint64_t hash) const noexcept;
  /// Prefetches the bucket of the hash, where find() and prefetch() begin. Called under a guard.
  void prefetch_bucket(std::uint64_t hash) const noexcept;

  /// The next table in a list of replaced tables.
  Owned next;

  // Called by one thread at a time.
  /// Adds a block. The table has room, and does not contain the block.
  void insert(BlockNode& node, std::uint64_t hash) noexcept;
  /// Removes a block, which the table contains.
  void remove(const BlockNode& node, std::uint64_t hash) noexcept;
  /// Replaces `from`, which the table contains, by `to`, which has the same name.
  void replace(const BlockNode& from, const BlockNode& to, std::uint64_t hash) noexcept;
  /// Calls `visit` with each block of the file. `visit` may remove that block.
  template <typename Visit>
  void for_each_of_file(std::uint64_t file_id, Visit&& visit) {
    for (std::uint64_t at = 0; at <= mask_; ++at) {
      for (const std::atomic<std::uint64_t>& slot : buckets()[at].slots) {
        const std::uint64_t word = slot.load(std::memory_order_relaxed);
        if (word == 0 || file_tag_in(word) != file_tag_of(file_id)) continue;
        BlockNode& node = node_in(word);
        if (node.key.file_id == file_id) visit(node);
      }
    }
  }

 private:
  static constexpr std::size_t kSlotsPerBucket = 7;
  static constexpr std::uint64_t kRoomPerBucket = 6;
  static constexpr int kAlignmentBits = 6;
  static constexpr int kAddressBits = 48;
  static constexpr int kLinesShift = kAddressBits - kAlignmentBits;
  static constexpr int kTagShift = 50;
  static constexpr std::uint64_t kLinesMax = (std::uint64_t{1} << (kTagShift - kLinesShift)) - 1;
  static constexpr int kFileTagShift = 58;
  static constexpr std::uint64_t kHashTagMask = (std::uint64_t{1} << (kFileTagShift - kTagShift)) - 1;
  static constexpr int kHashTagFrom = 32;  // the lower bits choose the bucket

  struct alignas(kCacheLineBytes) Bucket {
    std::atomic<std::uint64_t> passed{0};
    std::array<std::atomic<std::uint64_t>, kSlotsPerBucket> slots{};
  };

  explicit BlockIndex(std::uint64_t bucket_count) noexcept : mask_(bucket_count - 1) {}
  ~BlockIndex() = default;

  /// Returns one bit for each slot with this tag.
  static unsigned candidates_in(const Bucket& bucket, std::uint64_t tag) noexcept;
  static std::uint64_t file_tag_of(std::uint64_t file_id) noexcept {
    return file_id & ((std::uint64_t{1} << (64 - kFileTagShift)) - 1);
  }
  static std::uint64_t file_tag_in(std::uint64_t word) noexcept { return word >> kFileTagShift; }
  static std::uint64_t tag_of(BlockKey key, std::uint64_t hash) noexcept {
    const std::uint64_t file_tag = file_tag_of(key.file_id) << (kFileTagShift - kTagShift);
    return file_tag | ((hash >> kHashTagFrom) & kHashTagMask);
  }
  static std::uint64_t word_of(const BlockNode& node, std::uint64_t hash) noexcept;
  /// Prefetches the header of a block and its last lines. Of a block that is too large for its word it prefetches other
  /// lines instead.
  static void prefetch_ends(std::uint64_t word) noexcept;
  static BlockNode& node_in(std::uint64_t word) noexcept {
    constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kLinesShift) - 1;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a slot is an address beside a tag; that is its point
    return *reinterpret_cast<BlockNode*>((word & kAddressMask) << kAlignmentBits);
  }

  // The buckets follow this object directly. So it begins a cache line and fills it.
  Bucket* buckets() noexcept { return reinterpret_cast<Bucket*>(this + 1); }
  const Bucket* buckets() const noexcept { return reinterpret_cast<const Bucket*>(this + 1); }

  alignas(kCacheLineBytes) const std::uint64_t mask_;
};

}  // namespace varve::engine
