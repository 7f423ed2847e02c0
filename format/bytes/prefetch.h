// Owns: prefetching memory into the processor's cache.
// Must never: change the result of a program. It changes only how long the program waits.
#pragma once

namespace varve::format {

/// Prefetches the cache line of `address`, which may be any address, even one that is not mapped.
inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address);
  // g++ 12 treats a function that only prefetches as one without effects, and removes its calls. The empty asm
  // statement, which produces no instruction, prevents that.
  asm volatile("");
}

/// Prefetches the first eight cache lines from `address` on. After them, the processor's own prefetcher is ahead of the
/// reader.
inline void prefetch_beginning(const void* address) noexcept {
  constexpr int kLines = 8;
  constexpr int kCacheLineBytes = 64;
  for (int line = 0; line < kLines; ++line) prefetch(static_cast<const char*>(address) + line * kCacheLineBytes);
}

}  // namespace varve::format
