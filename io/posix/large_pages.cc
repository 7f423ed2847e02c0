// Owns: the system call that gives the advice (large_pages.h).
// Must never: advise on memory outside the caller's span.
#include "io/posix/large_pages.h"

#include <cstdint>

#include <sys/mman.h>

namespace varve::io {

void prefer_large_pages(std::span<std::byte> memory) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t lead = (kLargePageBytes - address % kLargePageBytes) % kLargePageBytes;
  if (memory.size() < lead + kLargePageBytes) return;
  const std::size_t whole = (memory.size() - lead) / kLargePageBytes * kLargePageBytes;
  (void)::madvise(memory.data() + lead, whole, MADV_HUGEPAGE);
}

}  // namespace varve::io
