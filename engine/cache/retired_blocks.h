// Owns: what was unlinked while somebody may still look at it, until nobody does.
// Must never: free anything before the epoch has moved on twice since it was unlinked (E2 of read_epoch.h).
#pragma once

#include <array>
#include <cstdint>

#include "engine/cache/block_index.h"
#include "engine/cache/block_node.h"
#include "engine/cache/read_epoch.h"

namespace varve::engine {

/// One thread at a time.
class RetiredBlocks {
 public:
  explicit RetiredBlocks(ReadEpoch& epoch) noexcept : epoch_(epoch) {}
  ~RetiredBlocks();  // nobody reads any more
  RetiredBlocks(const RetiredBlocks&) = delete;
  RetiredBlocks& operator=(const RetiredBlocks&) = delete;

  /// Neither the cache nor a pin holds the block, and no new guard can find it.
  void add(BlockNode& node) noexcept;
  /// The index was replaced. May be null.
  void add(BlockIndex::Owned index) noexcept;

  /// Frees what nobody can see any more; moves the epoch on where that may help. Waits for nobody.
  void free_unseen() noexcept;

  bool empty() const noexcept { return used_bytes_ == 0 && pinned_bytes_ == 0; }
  /// What is kept here of the budget, and beyond it.
  std::uint64_t used_bytes() const noexcept { return used_bytes_; }
  std::uint64_t pinned_bytes() const noexcept { return pinned_bytes_; }

 private:
  /// What was unlinked in one epoch.
  struct Bag {
    std::uint64_t epoch = 0;
    BlockNode* nodes = nullptr;  // linked by `newer`
    BlockIndex::Owned indexes;   // linked by `next`
  };

  Bag& bag_of_now() noexcept;
  void free_passed() noexcept;
  void empty(Bag& bag) noexcept;

  ReadEpoch& epoch_;
  std::array<Bag, 3> bags_;  // by epoch modulo 3: when one is needed again, what was in it has long passed
  std::uint64_t used_bytes_ = 0;
  std::uint64_t pinned_bytes_ = 0;
};

}  // namespace varve::engine
