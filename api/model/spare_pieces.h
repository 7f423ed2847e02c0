// Owns: pieces of page memory that a thread gave back, kept for its next page.
// Must never: keep more than its bound; or be touched by a thread that has ended its own.
//
// An allocator gives the end of its heap back to the system once a page's memory is free, and faults it in again for
// the next page: that costs more than the page itself. Kept pieces lie between the page's texts, so that these never
// make one free stretch that is worth giving back. The host's settings of its allocator stay as they are.
#pragma once

#include <cstddef>

namespace varve::spare_pieces {

/// All pieces are of this size.
inline constexpr std::size_t kPieceBytes = 2400;
/// What a thread keeps at most: the properties of a page of 1,000 entities with 25 properties each.
inline constexpr std::size_t kKeptBytesMax = std::size_t{2} << 20;

/// A piece of kPieceBytes, aligned as `operator new` does. Throws std::bad_alloc.
void* take();
/// Any thread may give back what another took.
void give_back(void* piece) noexcept;

/// What the calling thread keeps.
std::size_t kept_bytes() noexcept;

}  // namespace varve::spare_pieces
