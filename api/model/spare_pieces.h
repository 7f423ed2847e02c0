// Owns: pieces of page memory that a thread freed and keeps for its next page.
// Must never: keep more than its bound, or be used by a thread after its own list was destroyed.
//
// When a page's memory is free, an allocator returns the end of its heap to the system. The next page faults that
// memory in again, which costs more than the page itself. Kept pieces are located between the texts of a page, so these
// never form one free range that the allocator would return. The allocator settings of the host process are not
// changed.
#pragma once

#include <cstddef>

namespace varve::spare_pieces {

/// The size of every piece, in bytes.
inline constexpr std::size_t kPieceBytes = 2400;
/// The most that a thread keeps, in bytes: the properties of a page of 1,000 entities with 25 properties each.
inline constexpr std::size_t kKeptBytesMax = std::size_t{2} << 20;

/// Returns a piece of kPieceBytes, aligned as by `operator new`. Throws std::bad_alloc.
void* take();
/// Frees a piece. Any thread may free a piece that another thread took.
void give_back(void* piece) noexcept;

/// Returns the bytes that the calling thread keeps.
std::size_t kept_bytes() noexcept;

}  // namespace varve::spare_pieces
