// Owns: the search from bucket to bucket.
// Must never: read a slot in an order weaker than E2 of read_epoch.h requires.

#include "engine/cache/block_index.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

#include "format/bytes/prefetch.h"

namespace varve::engine {

namespace {

constexpr std::align_val_t kAlignment{kCacheLineBytes};

}  // namespace

void BlockIndex::Free::operator()(BlockIndex* index) const noexcept {
  index->~BlockIndex();  // The buckets contain only words and need no destructor.
  ::operator delete(index, kAlignment);
}

BlockIndex::Owned BlockIndex::make(std::uint64_t bucket_count) noexcept {
  assert(std::has_single_bit(bucket_count));
  void* const memory = ::operator new(bytes_for(bucket_count), kAlignment, std::nothrow);
  if (memory == nullptr) return nullptr;
  Owned index(new (memory) BlockIndex(bucket_count));
  for (std::uint64_t at = 0; at < bucket_count; ++at) new (index->buckets() + at) Bucket;
  return index;
}

std::uint64_t BlockIndex::word_of(const BlockNode& node, std::uint64_t hash) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(&node);
  assert(address >> kAddressBits == 0);  // Today's processors give programs 48-bit addresses.
  const std::uint64_t lines = (node.content().size() + kCacheLineBytes - 1) / kCacheLineBytes;
  return tag_of(node.key, hash) << kTagShift | std::min(lines, kLinesMax) << kLinesShift | address >> kAlignmentBits;
}

inline void BlockIndex::prefetch_ends(std::uint64_t word) noexcept {
  constexpr std::uint64_t kLinesOfEnd = 4;
  const auto* const begin = reinterpret_cast<const char*>(&node_in(word));
  format::prefetch(begin);
  const char* const last = begin + ((word >> kLinesShift) & kLinesMax) * kCacheLineBytes;
  for (std::uint64_t line = 0; line < kLinesOfEnd; ++line) format::prefetch(last - line * kCacheLineBytes);
}

inline unsigned BlockIndex::candidates_in(const Bucket& bucket, std::uint64_t tag) noexcept {
  constexpr std::uint64_t kTagUnit = std::uint64_t{1} << kTagShift;
  const std::uint64_t tagged = tag << kTagShift;
  unsigned candidates = 0;
  for (std::size_t i = 0; i < kSlotsPerBucket; ++i) {
    const std::uint64_t word = bucket.slots[i].load(std::memory_order_seq_cst);
    candidates |= static_cast<unsigned>((word ^ tagged) < kTagUnit) << i;
  }
  return candidates;
}

void BlockIndex::prefetch(BlockKey key, std::uint64_t hash) const noexcept {
  const Bucket& bucket = buckets()[hash & mask_];
  unsigned candidates = candidates_in(bucket, tag_of(key, hash));
  for (; candidates != 0; candidates &= candidates - 1) {
    const auto slot = static_cast<std::size_t>(std::countr_zero(candidates));
    const std::uint64_t word = bucket.slots[slot].load(std::memory_order_relaxed);
    if (word != 0) format::prefetch_beginning(&node_in(word));
  }
}

void BlockIndex::prefetch_bucket(std::uint64_t hash) const noexcept {
  format::prefetch(buckets() + (hash & mask_));
}

BlockNode* BlockIndex::find(BlockKey key, std::uint64_t hash) const noexcept {
  const std::uint64_t tag = tag_of(key, hash);
  for (std::uint64_t step = 0; step <= mask_; ++step) {
    const Bucket& bucket = buckets()[(hash + step) & mask_];
    for (unsigned candidates = candidates_in(bucket, tag); candidates != 0; candidates &= candidates - 1) {
      // Reads the word again, since keeping all seven words costs more. The new word is checked like the old one.
      const auto slot = static_cast<std::size_t>(std::countr_zero(candidates));
      const std::uint64_t word = bucket.slots[slot].load(std::memory_order_seq_cst);
      if (word == 0) continue;  // free: a tag may be zero
      prefetch_ends(word);
      BlockNode& node = node_in(word);
      if (node.key == key) return &node;
    }
    if (bucket.passed.load(std::memory_order_relaxed) == 0) return nullptr;
  }
  return nullptr;
}

void BlockIndex::insert(BlockNode& node, std::uint64_t hash) noexcept {
  const std::uint64_t word = word_of(node, hash);
  for (std::uint64_t step = 0; step <= mask_; ++step) {
    Bucket& bucket = buckets()[(hash + step) & mask_];
    for (std::atomic<std::uint64_t>& slot : bucket.slots) {
      if (slot.load(std::memory_order_relaxed) != 0) continue;
      slot.store(word, std::memory_order_release);  // The block was written before.
      return;
    }
    bucket.passed.store(bucket.passed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  assert(false);  // There was room.
}

void BlockIndex::replace(const BlockNode& from, const BlockNode& to, std::uint64_t hash) noexcept {
  assert(from.key == to.key);
  const std::uint64_t word = word_of(from, hash);
  for (std::uint64_t step = 0; step <= mask_; ++step) {
    for (std::atomic<std::uint64_t>& slot : buckets()[(hash + step) & mask_].slots) {
      if (slot.load(std::memory_order_relaxed) != word) continue;
      slot.store(word_of(to, hash), std::memory_order_seq_cst);  // E2; the copy was written before
      return;
    }
  }
  assert(false);  // I1
}

void BlockIndex::remove(const BlockNode& node, std::uint64_t hash) noexcept {
  const std::uint64_t word = word_of(node, hash);
  for (std::uint64_t step = 0; step <= mask_; ++step) {
    Bucket& bucket = buckets()[(hash + step) & mask_];
    for (std::atomic<std::uint64_t>& slot : bucket.slots) {
      if (slot.load(std::memory_order_relaxed) != word) continue;
      slot.store(0, std::memory_order_seq_cst);
      return;
    }
    const std::uint64_t passed = bucket.passed.load(std::memory_order_relaxed);
    assert(passed > 0);  // I2
    bucket.passed.store(passed - 1, std::memory_order_relaxed);
  }
  assert(false);  // I1
}

}  // namespace varve::engine
