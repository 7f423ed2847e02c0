// Owns: the advice to the system to back memory with large pages.
// Must never: affect anything except speed.
#pragma once

#include <cstddef>
#include <span>

namespace varve::io {

/// Size of a large page in bytes. Only the part of the memory that whole large pages fill is advised.
inline constexpr std::size_t kLargePageBytes = std::size_t{2} << 20;

/// Advises the system about many megabytes of memory that are about to be filled for the first time. A page fault for
/// each 4 KiB would cost more than reading the data. The system may ignore the advice.
void prefer_large_pages(std::span<std::byte> memory) noexcept;

}  // namespace varve::io
