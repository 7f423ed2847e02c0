// Owns: the way from a block's name to the block, for any number of readers beside one writer.
// Must never: move an entry to another place, or let a reader miss a block that stays.
//
// A table of buckets, each one cache line: seven slots and a count. A block goes to the first bucket with a free slot,
// from the bucket of its hash on; every bucket it had to pass counts it. A reader goes on from a bucket only if
// somebody passed it. So nothing is ever moved, and no mark of a removed entry stays behind. A slot is one atomic word:
// 42 bits of the block's address and a tag of 22 bits, 11 of the file's number and 11 of the hash. A lookup so reads
// one line, and that of the block; and all blocks of a file are found without reading any of another.
//
// I1  a slot that is not zero names a block that is in the cache.
// I2  a bucket's count is the number of blocks in the table that passed it.
//
// Source: N. Bronson, X. Shi, "Open-sourcing F14" (buckets with tags and counts of those that passed).
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

  /// A power of two of buckets. Null when the system has no memory.
  static Owned make(std::uint64_t bucket_count) noexcept;
  static std::uint64_t bytes_for(std::uint64_t bucket_count) noexcept {
    return sizeof(BlockIndex) + bucket_count * sizeof(Bucket);
  }
  /// So many that lookups stay short.
  static std::uint64_t room_in(std::uint64_t bucket_count) noexcept { return bucket_count * kRoomPerBucket; }

  std::uint64_t bucket_count() const noexcept { return mask_ + 1; }
  std::uint64_t bytes() const noexcept { return bytes_for(bucket_count()); }

  /// Readers: under a guard; sees every block that was inserted before the guard and stays. The writer: any time.
  BlockNode* find(BlockKey key, std::uint64_t hash) const noexcept;
  /// Fetches the beginning of the block from memory, if it lies in the bucket of its hash, as nearly all do; looks at
  /// no block, so it may fetch another one too. Under a guard.
  void prefetch(BlockKey key, std::uint64_t hash) const noexcept;

  /// In a list of tables that were replaced.
  Owned next;

  // One thread at a time.
  /// The table has room, and does not hold the block.
  void insert(BlockNode& node, std::uint64_t hash) noexcept;
  /// The table holds the block.
  void remove(const BlockNode& node, std::uint64_t hash) noexcept;
  /// The table holds `from`; from now on it holds `to`, of the same name.
  void replace(const BlockNode& from, const BlockNode& to, std::uint64_t hash) noexcept;
  /// Calls `visit` with each block of the file; it may remove that one.
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
  static constexpr int kTagShift = kAddressBits - kAlignmentBits;
  static constexpr int kFileTagShift = 53;
  static constexpr std::uint64_t kHashTagMask = (std::uint64_t{1} << (kFileTagShift - kTagShift)) - 1;
  static constexpr int kHashTagFrom = 32;  // the bits below choose the bucket

  struct alignas(kCacheLineBytes) Bucket {
    std::atomic<std::uint64_t> passed{0};
    std::array<std::atomic<std::uint64_t>, kSlotsPerBucket> slots{};
  };

  explicit BlockIndex(std::uint64_t bucket_count) noexcept : mask_(bucket_count - 1) {}
  ~BlockIndex() = default;

  /// A bit for each slot with this tag.
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
  static BlockNode& node_in(std::uint64_t word) noexcept {
    constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kTagShift) - 1;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a slot is an address beside a tag; that is its point
    return *reinterpret_cast<BlockNode*>((word & kAddressMask) << kAlignmentBits);
  }

  // The buckets lie directly behind this object, which so begins a cache line and fills it.
  Bucket* buckets() noexcept { return reinterpret_cast<Bucket*>(this + 1); }
  const Bucket* buckets() const noexcept { return reinterpret_cast<const Bucket*>(this + 1); }

  alignas(kCacheLineBytes) const std::uint64_t mask_;
};

}  // namespace varve::engine
