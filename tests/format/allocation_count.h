// Owns: how many times this thread has asked for memory, in the tests of the formats.
// Must never: count another thread's.
#pragma once

#include <cstdint>

namespace varve::format {

std::uint64_t allocation_count() noexcept;

}  // namespace varve::format
