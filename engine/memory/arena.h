// Owns: an arena, which hands out memory in pieces and frees all of them at its end.
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

/// take() must be called by one thread at a time. Any thread may read the byte counts at any time.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 8;

  Arena() noexcept = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns `bytes` contiguous bytes, aligned to kAlignment; `bytes` is above zero. Returns null if the system has no
  /// memory; then the arena is unchanged.
  char* take(std::size_t bytes) noexcept;

  /// Connects the arena to `budget`: it takes its blocks from the budget's spare blocks and leaves its own there at the
  /// end. The arena charges nothing to the budget.
  void draw_on(std::shared_ptr<WriteBudget> budget) noexcept { budget_ = std::move(budget); }

  /// Returns the bytes handed out, each piece rounded up to kAlignment.
  std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }
  /// Returns the bytes held from the system: the pieces, and the unused ends of blocks.
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
