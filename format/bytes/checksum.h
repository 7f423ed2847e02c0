// Owns: the one checksum of every file: XXH3-64 of the stored bytes plus a term of (file seed, offset).
// Must never: be left out because bytes "came from memory".
//
// The term makes a block that is intact but in the wrong place or file fail like a damaged one. It is added, so that a
// block copied whole can be re-stamped for its new place without hashing it twice.
// Source: xxHash, XXH3 64-bit variant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace varve::format {

/// What a checksum takes wherever it is stored: little-endian.
inline constexpr std::size_t kChecksumBytes = 8;

/// Where bytes are stored: the seed of the file, from its header, and their offset in it.
struct FilePlace {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
};

/// XXH3-64 of the bytes alone.
std::uint64_t content_hash(std::string_view bytes) noexcept;
/// XXH3-64 of the eight little-endian bytes of the offset, seeded with the file's seed.
std::uint64_t place_term(FilePlace place) noexcept;
/// content_hash + place_term, modulo 2^64.
std::uint64_t checksum_at(FilePlace place, std::string_view bytes) noexcept;
/// The checksum the same bytes have at another place.
std::uint64_t restamp(std::uint64_t checksum, FilePlace from, FilePlace to) noexcept;

}  // namespace varve::format
