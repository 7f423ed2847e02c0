// Owns: a block in memory while it is filled, while it is cached, and while a cursor holds it.
// Must never: change its content after it was inserted.
//
// A block is one piece of memory: a header of one cache line, directly followed by the content. So the content is
// aligned to 64 bytes. That is too little for direct I/O, on purpose: blocks are unaligned in their files, and most are
// compressed. A reader of the file reads whole sectors into its own memory and verifies them there. Then it
// decompresses or copies them into the block.
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

/// The part of a block that its readers see. It never changes.
class CachedBlock {
 public:
  static constexpr std::size_t kHeaderBytes = 64;

  std::string_view content() const noexcept {
    return {reinterpret_cast<const char*>(this) + kHeaderBytes, size_bytes_};
  }
  /// Returns the type of the block, as its inserter defined it.
  std::uint8_t type() const noexcept { return type_; }
  /// Returns the bytes of memory that the block takes, header and rest of its slot included.
  std::uint64_t memory_bytes() const noexcept { return taken_bytes_for(kHeaderBytes + std::size_t{size_bytes_}); }

 protected:
  CachedBlock(std::uint32_t size_bytes, std::uint8_t type) noexcept : size_bytes_(size_bytes), type_(type) {}
  ~CachedBlock() = default;

  std::uint32_t size_bytes_;
  std::uint8_t type_;
};

/// A block that is being filled, made by BlockCache::allocate(). Movable, not copyable. It is destroyed before the
/// cache, and not under a ReadGuard.
class Block {
 public:
  Block() noexcept = default;

  explicit operator bool() const noexcept { return node_ != nullptr; }
  std::span<char> content() noexcept;

 private:
  friend class CacheShard;
  struct Free {
    void operator()(BlockNode* node) const noexcept;
  };
  explicit Block(BlockNode* node) noexcept : node_(node) {}

  std::unique_ptr<BlockNode, Free> node_;
};

/// Keeps one block in memory until the pin is destroyed, whether or not the block is cached. It changes a counter that
/// all pins of the block share, so it suits long holders: a cursor takes one pin for each block. One thread uses a pin
/// at a time. It may be destroyed on another thread, but before the cache and not under a ReadGuard.
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
  /// Returns another pin of this block. This pin is not empty.
  PinnedBlock again() const noexcept;

 private:
  friend class CacheShard;
  explicit PinnedBlock(BlockNode* node) noexcept : node_(node) {}

  BlockNode* node_ = nullptr;  // this pin owns one of its references
};

}  // namespace varve::engine
