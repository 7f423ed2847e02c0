// Owns: how many files this process may have open at once.
// Must never: change that: the limit is the host's to set.
#pragma once

#include <cstdint>

namespace varve::io {

/// The soft limit, which is the one that holds; a large number where there is none.
std::uint64_t descriptor_limit() noexcept;

}  // namespace varve::io
