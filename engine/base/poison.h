// Owns: marking memory as inaccessible for AddressSanitizer. It does nothing in other builds.
// Must never: affect the running program.
#pragma once

#include <cstddef>
#include <span>

#if defined(__SANITIZE_ADDRESS__)
#define VARVE_ADDRESSES_ARE_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VARVE_ADDRESSES_ARE_CHECKED 1
#endif
#endif

#ifdef VARVE_ADDRESSES_ARE_CHECKED
#include <sanitizer/asan_interface.h>
#endif

namespace varve::engine {

inline void forbid([[maybe_unused]] std::span<std::byte> memory) noexcept {
#ifdef VARVE_ADDRESSES_ARE_CHECKED
  __asan_poison_memory_region(memory.data(), memory.size());
#endif
}

inline void allow([[maybe_unused]] std::span<std::byte> memory) noexcept {
#ifdef VARVE_ADDRESSES_ARE_CHECKED
  __asan_unpoison_memory_region(memory.data(), memory.size());
#endif
}

}  // namespace varve::engine
