// Owns: the bytes of every blob of the race: pieces of 1 MiB that do not compress, each known by its number.
// Must never: differ between contenders or runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::bench {

inline constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

/// Returns the piece that begins at byte `number` times kPieceBytes of a blob. It lives as long as the program.
std::string_view piece_of(std::uint64_t number);

/// Calls `write` with each piece of a blob of this length, in order. Returns its first error.
Status for_pieces(std::uint64_t bytes,
                  const std::function<Status(std::uint64_t offset, std::string_view piece)>& write);

/// Returns kCorruption if these bytes, which lie in one piece, are not those of a blob at `offset`. It compares the first
/// 4 KiB, because a comparison of all bytes would be a large part of a measured read.
Status check_piece(std::uint64_t offset, std::string_view bytes);

}  // namespace varve::bench
