// Owns: the list of spare blocks (spare_blocks.h).
// Must never: call the system under its mutex.
#include "engine/memory/spare_blocks.h"

#include <cassert>
#include <new>
#include <span>
#include <utility>

#include "engine/base/poison.h"

namespace varve::engine {

io::PageMemory SpareBlocks::take_locked() noexcept {
  if (blocks_.empty()) return io::PageMemory();
  io::PageMemory block = std::move(blocks_.back());
  blocks_.pop_back();
  bytes_.store(blocks_.size() * kBlockBytes, std::memory_order_relaxed);
  allow(block.bytes());
  return block;
}

io::PageMemory SpareBlocks::take() noexcept {
  if (bytes() == 0) return io::PageMemory();
  const io::MutexGuard guard(mutex_);
  return take_locked();
}

void SpareBlocks::keep(io::PageMemory block, std::uint64_t bytes_max) noexcept {
  assert(block.bytes().size() == kBlockBytes);
  const io::MutexGuard guard(mutex_);
  if ((blocks_.size() + 1) * kBlockBytes > bytes_max) return;  // What was given ends after the guard.
  const std::span<std::byte> bytes = block.bytes();
  try {
    blocks_.push_back(std::move(block));
  } catch (const std::bad_alloc&) {
    return;
  }
  forbid(bytes);
  bytes_.store(blocks_.size() * kBlockBytes, std::memory_order_relaxed);
}

void SpareBlocks::trim(std::uint64_t bytes_max) noexcept {
  while (bytes() > bytes_max) {
    io::PageMemory block;
    const io::MutexGuard guard(mutex_);
    if (bytes() > bytes_max) block = take_locked();
  }
}

}  // namespace varve::engine
