// Owns: memory that is taken piece by piece and given back all at once.
// Must never: move or free a piece while the arena lives.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/memory/write_budget.h"
#include "io/posix/page_memory.h"

namespace varve::engine {

/// One thread at a time takes; the counts may be read by any.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 8;

  Arena() noexcept = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `bytes` contiguous bytes, more than zero, aligned to kAlignment. Null when the system has no memory; nothing
  /// changed then.
  char* take(std::size_t bytes) noexcept;

  /// From now on blocks are those that lie unused there, and all go there at the end. Nothing is charged by the arena.
  void draw_on(std::shared_ptr<WriteBudget> budget) noexcept { budget_ = std::move(budget); }

  /// What was taken, each piece rounded up to kAlignment.
  std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }
  /// What is held from the system: what was taken, and the ends of blocks that were too small for the next piece.
  std::uint64_t allocated_bytes() const noexcept { return allocated_bytes_.load(std::memory_order_relaxed); }

 private:
  io::PageMemory block_for(std::size_t piece_bytes) noexcept;
  char* add_block(std::size_t piece_bytes) noexcept;

  std::shared_ptr<WriteBudget> budget_;
  std::vector<io::PageMemory> blocks_;
  char* at_ = nullptr;
  std::size_t left_bytes_ = 0;
  std::atomic<std::uint64_t> used_bytes_{0};
  std::atomic<std::uint64_t> allocated_bytes_{0};
};

}  // namespace varve::engine
