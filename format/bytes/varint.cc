// Owns: the varints that are rare in blocks (varint.h).
// Must never: have rules of its own. The rules are ByteReader's.
#include "format/bytes/varint.h"

#include <bit>

#include "format/bytes/bytes.h"

namespace varve::format {
namespace {

/// Joins the low seven bits of each byte, the lowest byte first.
std::uint64_t joined(std::uint64_t bytes) noexcept {
  bytes = (bytes & 0x007F007F007F007F) | (bytes & 0x7F007F007F007F00) >> 1;
  bytes = (bytes & 0x00003FFF00003FFF) | (bytes & 0x3FFF00003FFF0000) >> 2;
  return (bytes & 0x000000000FFFFFFF) | (bytes & 0x0FFFFFFF00000000) >> 4;
}

}  // namespace

const char* take_long_varint(const char* at, const char* end, std::uint64_t* value) noexcept {
  if (end - at >= static_cast<std::ptrdiff_t>(sizeof(std::uint64_t))) [[likely]] {
    const std::uint64_t bytes = load_u64(at);
    const std::uint64_t ends = ~bytes & 0x8080808080808080;
    const int last_bit = std::countr_zero(ends);  // the high bit of the first byte after which no other follows
    if (ends != 0 && last_bit > 7 && (bytes >> (last_bit - 7) & 0x7F) != 0) [[likely]] {
      *value = joined(bytes & (~std::uint64_t{0} >> (63 - last_bit)));
      return at + (last_bit + 1) / 8;
    }
  }
  ByteReader reader({at, static_cast<std::size_t>(end - at)});
  return reader.read_varint(value) ? at + reader.offset() : nullptr;
}

}  // namespace varve::format
