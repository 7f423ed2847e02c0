// Owns: the one piece of the store that is compiled for AVX2 (long_hash.h).
// Must never: have AVX2 in a function that another file may share, such as one of the standard library: an older processor
// would end at it. So the standard headers are read before, and everything after is local to this file.
#include "format/bytes/long_hash.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#define XXH_VECTOR 2  // XXH_AVX2, which the header names only once it has been read
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::format {
namespace {

std::uint64_t hash_by_avx2(const char* bytes, std::size_t count) noexcept {
  return XXH3_64bits(bytes, count);
}

}  // namespace
}  // namespace varve::format

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace varve::format {

bool has_long_hash() noexcept {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

std::uint64_t long_content_hash(std::string_view bytes) noexcept {
  return hash_by_avx2(bytes.data(), bytes.size());
}

}  // namespace varve::format

#else

namespace varve::format {

bool has_long_hash() noexcept {
  return false;
}

std::uint64_t long_content_hash(std::string_view /*bytes*/) noexcept {
  std::abort();
}

}  // namespace varve::format

#endif
