// Owns: the query of the limit (descriptor_limit.h).
// Must never: fail.
#include "io/posix/descriptor_limit.h"

#include <algorithm>

#include <sys/resource.h>

namespace varve::io {

std::uint64_t descriptor_limit() noexcept {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kNoLimit;
  return std::min<std::uint64_t>(limit.rlim_cur, kNoLimit);
}

}  // namespace varve::io
