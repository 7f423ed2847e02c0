// Owns: a block in memory: while it is filled, while it lies in the cache, while a cursor holds it.
// Must never: change its content once it was inserted.
//
// A block is one piece of memory: a header of one cache line, and the content directly behind it, so aligned to 64
// bytes. That is not enough for direct I/O, on purpose: blocks lie unaligned in their files and most are compressed.
// Whoever reads one reads whole sectors into memory of his own, verifies there, and decompresses, or copies, into the
// block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "engine/cache/block_size.h"

namespace varve::engine {

struct BlockNode;

/// What readers see of a block. Never changes.
class CachedBlock {
 public:
  static constexpr std::size_t kHeaderBytes = 64;

  std::string_view content() const noexcept {
    return {reinterpret_cast<const char*>(this) + kHeaderBytes, size_bytes_};
  }
  /// What the block is, in the words of whoever inserted it.
  std::uint8_t type() const noexcept { return type_; }
  /// Whatever of the content its reader wants to have at hand; zero unless it was set.
  std::uint64_t aux() const noexcept { return aux_; }
  /// Bytes of memory, header included: all that nobody else can have.
  std::uint64_t memory_bytes() const noexcept { return taken_bytes_for(kHeaderBytes + std::size_t{size_bytes_}); }

 protected:
  CachedBlock(std::uint32_t size_bytes, std::uint8_t type) noexcept : size_bytes_(size_bytes), type_(type) {}
  ~CachedBlock() = default;

  std::uint64_t aux_ = 0;
  std::uint32_t size_bytes_;
  std::uint8_t type_;
};

/// A block that is being filled: BlockCache::allocate() makes it. Moves, does not copy. Destroyed before the cache, and
/// not under a ReadGuard.
class Block {
 public:
  Block() noexcept = default;

  explicit operator bool() const noexcept { return node_ != nullptr; }
  std::span<char> content() noexcept;
  void set_aux(std::uint64_t aux) noexcept;

 private:
  friend class CacheShard;
  struct Free {
    void operator()(BlockNode* node) const noexcept;
  };
  explicit Block(BlockNode* node) noexcept : node_(node) {}

  std::unique_ptr<BlockNode, Free> node_;
};

/// Keeps one block in memory, in the cache or not, until it is destroyed. Costs a change of a counter that is shared by
/// all who pin the block, so it is for those that stay: a cursor takes one for each block. One thread at a time; may be
/// destroyed on another thread, not under a ReadGuard, and before the cache.
class PinnedBlock {
 public:
  PinnedBlock() noexcept = default;
  PinnedBlock(PinnedBlock&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  PinnedBlock& operator=(PinnedBlock&& other) noexcept {
    if (this != &other) {
      release();
      node_ = std::exchange(other.node_, nullptr);
    }
    return *this;
  }
  ~PinnedBlock() { release(); }

  explicit operator bool() const noexcept { return node_ != nullptr; }
  const CachedBlock& operator*() const noexcept;
  const CachedBlock* operator->() const noexcept { return &**this; }

  void release() noexcept;
  /// Another pin of the same block; this one is not empty.
  PinnedBlock again() const noexcept;

 private:
  friend class CacheShard;
  explicit PinnedBlock(BlockNode* node) noexcept : node_(node) {}

  BlockNode* node_ = nullptr;  // one of its references is ours
};

}  // namespace varve::engine
