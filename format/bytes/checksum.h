// Owns: the one checksum of every file: XXH3-64 of the stored bytes plus a term computed from the file's seed and the
// offset.
// Must never: be skipped because the bytes "came from memory".
//
// The term makes an intact block in the wrong place or the wrong file fail like a damaged block. The term is added, so
// that a block that is copied whole can be re-stamped for its new place without hashing it again.
// Source: xxHash, XXH3 64-bit variant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace varve::format {

/// Size of a stored checksum in bytes. Stored checksums are little-endian.
inline constexpr std::size_t kChecksumBytes = 8;

/// The place where bytes are stored: the file's seed, which its header contains, and the offset in the file, in bytes.
struct FilePlace {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
};

/// Returns the XXH3-64 of the bytes alone.
std::uint64_t content_hash(std::string_view bytes) noexcept;
/// Returns the XXH3-64 of the eight little-endian bytes of the offset, seeded with the file's seed.
std::uint64_t place_term(FilePlace place) noexcept;
/// Returns content_hash + place_term, modulo 2^64.
std::uint64_t checksum_at(FilePlace place, std::string_view bytes) noexcept;
/// Returns the checksum of the same bytes at the place `to`, given their checksum at the place `from`.
std::uint64_t restamp(std::uint64_t checksum, FilePlace from, FilePlace to) noexcept;

}  // namespace varve::format
