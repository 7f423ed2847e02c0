// Owns: asking the processor for memory before it is read.
// Must never: change what a program does: only how long it waits.
#pragma once

namespace varve::format {

/// The cache line of `address`, which may be any place, also one that is not mapped.
inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address);
  // g++ 12 takes a function that only prefetches for one without effects, and leaves out the calls of it. Not of one
  // that has this, which is no instruction.
  asm volatile("");
}

/// The first lines of what begins at `address`: behind them the processor itself is ahead of who reads on.
inline void prefetch_beginning(const void* address) noexcept {
  constexpr int kLines = 8;
  constexpr int kCacheLineBytes = 64;
  for (int line = 0; line < kLines; ++line) prefetch(static_cast<const char*>(address) + line * kCacheLineBytes);
}

}  // namespace varve::format
