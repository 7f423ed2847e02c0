// Owns: unlinked memory that a reader may still see, until no reader can.
// Must never: free memory before the epoch has advanced twice since its unlinking (E2 of read_epoch.h).
#pragma once

#include <array>
#include <cstdint>

#include "engine/cache/block_index.h"
#include "engine/cache/block_node.h"
#include "engine/cache/read_epoch.h"

namespace varve::engine {

/// Used by one thread at a time.
class RetiredBlocks {
 public:
  explicit RetiredBlocks(ReadEpoch& epoch) noexcept : epoch_(epoch) {}
  ~RetiredBlocks();  // no thread reads any more
  RetiredBlocks(const RetiredBlocks&) = delete;
  RetiredBlocks& operator=(const RetiredBlocks&) = delete;

  /// Adds a block that neither the cache nor a pin holds, and that no new guard can find.
  void add(BlockNode& node) noexcept;
  /// Adds an index that was replaced. It may be null.
  void add(BlockIndex::Owned index) noexcept;

  /// Frees memory that no reader can see any more, and advances the epoch if that may help. Does not wait.
  void free_unseen() noexcept;

  bool empty() const noexcept { return used_bytes_ == 0 && pinned_bytes_ == 0; }
  /// Return the bytes kept here that count in the budget, and those beyond it.
  std::uint64_t used_bytes() const noexcept { return used_bytes_; }
  std::uint64_t pinned_bytes() const noexcept { return pinned_bytes_; }

 private:
  /// The memory unlinked in one epoch.
  struct Bag {
    std::uint64_t epoch = 0;
    BlockNode* nodes = nullptr;  // linked by `newer`
    BlockIndex::Owned indexes;   // linked by `next`
  };

  Bag& bag_of_now() noexcept;
  void free_passed() noexcept;
  void empty(Bag& bag) noexcept;

  ReadEpoch& epoch_;
  std::array<Bag, 3> bags_;  // by epoch modulo 3: when a bag is needed again, its old content has long passed
  std::uint64_t used_bytes_ = 0;
  std::uint64_t pinned_bytes_ = 0;
};

}  // namespace varve::engine
