// Owns: a list of blocks in the order of their arrival, and the sum of their bytes.
// Must never: own or free a block.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/cache/block_node.h"

namespace varve::engine {

/// Used by one thread at a time.
class BlockQueue {
 public:
  BlockNode* oldest() const noexcept { return oldest_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t count() const noexcept { return count_; }

  void push(BlockNode& node) noexcept {
    node.newer = nullptr;
    node.older = newest_;
    (newest_ == nullptr ? oldest_ : newest_->newer) = &node;
    newest_ = &node;
    bytes_ += node.memory_bytes();
    ++count_;
  }

  void remove(BlockNode& node) noexcept {
    assert(count_ > 0);
    (node.newer == nullptr ? newest_ : node.newer->older) = node.older;
    (node.older == nullptr ? oldest_ : node.older->newer) = node.newer;
    node.newer = nullptr;
    node.older = nullptr;
    bytes_ -= node.memory_bytes();
    --count_;
  }

  /// Puts `to` in the place of `from`. Both have the same size.
  void replace(BlockNode& from, BlockNode& to) noexcept {
    assert(from.memory_bytes() == to.memory_bytes());
    to.newer = std::exchange(from.newer, nullptr);
    to.older = std::exchange(from.older, nullptr);
    (to.newer == nullptr ? newest_ : to.newer->older) = &to;
    (to.older == nullptr ? oldest_ : to.older->newer) = &to;
  }

 private:
  BlockNode* newest_ = nullptr;
  BlockNode* oldest_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace varve::engine
