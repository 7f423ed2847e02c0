// Owns: the advice that memory is best made of large pages.
// Must never: matter but for the time it takes.
#pragma once

#include <cstddef>
#include <span>

namespace varve::io {

/// Of what is advised only what such pages fill is touched.
inline constexpr std::size_t kLargePageBytes = std::size_t{2} << 20;

/// For memory of many megabytes that is about to be filled for the first time: a page fault for each four kilobytes of
/// it would cost more than reading it. The system may not care.
void prefer_large_pages(std::span<std::byte> memory) noexcept;

}  // namespace varve::io
