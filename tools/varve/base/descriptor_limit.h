// Owns: the number of files that this process may have open at once.
// Must never: be used by the library. The host program sets the limit of its process.
#pragma once

#include <algorithm>
#include <cstdint>

#include <sys/resource.h>

namespace varve::tool {

/// Returns the soft limit of open files, which is the effective limit.
inline std::uint64_t descriptor_limit() noexcept {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kNoLimit;
  return std::min<std::uint64_t>(limit.rlim_cur, kNoLimit);
}

/// Raises the soft limit to the hard limit if possible, and returns the effective limit.
inline std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
  return descriptor_limit();
}

}  // namespace varve::tool
