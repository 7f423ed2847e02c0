// Owns: XXH3-64 and the term of the place (checksum.h).
// Must never: depend on the machine. xxHash returns the same number on every machine, and the offset is hashed as eight
// little-endian bytes.
#include "format/bytes/checksum.h"

#include <array>

// xxHash is inlined because hashing a name or a partition costs less than a call into the library.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "format/bytes/bytes.h"
#include "format/bytes/long_hash.h"

namespace varve::format {
std::uint64_t content_hash(std::string_view bytes) noexcept {
  const bool is_long = bytes.size() >= kLongTextBytes && has_long_hash();
  return is_long ? long_content_hash(bytes) : XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t place_term(FilePlace place) noexcept {
  std::array<char, sizeof(place.offset)> offset;
  store_u64(offset.data(), place.offset);
  return XXH3_64bits_withSeed(offset.data(), offset.size(), place.seed);
}

std::uint64_t checksum_at(FilePlace place, std::string_view bytes) noexcept {
  return content_hash(bytes) + place_term(place);
}

std::uint64_t restamp(std::uint64_t checksum, FilePlace from, FilePlace to) noexcept {
  return checksum - place_term(from) + place_term(to);
}

}  // namespace varve::format
