// Owns: the bytes that two texts have in common at the start.
// Must never: read behind the end of the shorter one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/bytes/bytes.h"

namespace varve::format {

/// Returns the number of bytes that a and b have in common at the start. Compares eight at a time, since neighbouring
/// keys have most of theirs in common.
inline std::size_t common_prefix(std::string_view a, std::string_view b) noexcept {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
    const std::uint64_t different = load_u64(a.data() + at) ^ load_u64(b.data() + at);
    if (different != 0) return at + static_cast<std::size_t>(std::countr_zero(different)) / 8;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

}  // namespace varve::format
