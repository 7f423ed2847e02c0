// Owns: finding where two byte strings begin to differ, eight bytes at a time.
// Must never: read outside the two.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/bytes/bytes.h"

namespace varve::format {

/// Returns the number of bytes that a and b have in common at the start.
inline std::size_t common_prefix(std::string_view a, std::string_view b) noexcept {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; size - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    const std::uint64_t different = load_u64(a.data() + at) ^ load_u64(b.data() + at);
    if (different != 0) return at + static_cast<std::size_t>(std::countr_zero(different)) / 8;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

}  // namespace varve::format
