// Owns: the number of files that this process may have open at once.
// Must never: change the limit. The host sets it.
#pragma once

#include <cstdint>

namespace varve::io {

/// Returns the soft limit, which is the effective one. Returns a large number if there is no limit.
std::uint64_t descriptor_limit() noexcept;

}  // namespace varve::io
