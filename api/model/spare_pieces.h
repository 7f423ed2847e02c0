// Owns: pieces of page memory, and texts, that a thread freed and keeps for its next page.
// Must never: keep more than its bounds, or be used by a thread after its own lists were destroyed.
//
// When a page's memory is free, an allocator returns the end of its heap to the system. The next page faults that
// memory in again, which costs more than the page itself. Kept pieces are located between the texts of a page, so these
// never form one free range that the allocator would return. The allocator settings of the host process are not
// changed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace varve::spare_pieces {

/// The size of every small piece, in bytes. Small pieces hold properties (property_room.h).
inline constexpr std::size_t kPieceBytes = 2400;
/// The size of every large piece, in bytes. Large pieces hold pages of views (page_memory.h).
inline constexpr std::size_t kLargeBytes = std::size_t{32} << 10;
/// The most that a thread keeps of both sizes together, in bytes: the properties of a page of 1,000 entities with 25
/// properties each.
inline constexpr std::size_t kKeptBytesMax = std::size_t{2} << 20;

/// Return a piece of kPieceBytes or kLargeBytes, aligned as by `operator new`. Throw std::bad_alloc.
/// @{
void* take();
void* take_large();
/// @}
/// Free a piece. Any thread may free a piece that another thread took.
/// @{
void give_back(void* piece) noexcept;
void give_back_large(void* piece) noexcept;
/// @}

/// Returns the bytes that the calling thread keeps.
std::size_t kept_bytes() noexcept;

}  // namespace varve::spare_pieces

// Each entity has two keys, and often a text. A page of entities would allocate and free three pieces of memory for each
// of them, which costs as much as everything else that makes them. The allocator keeps few free pieces of a size for a
// thread, and joins the rest.
namespace varve::spare_texts {

/// Texts up to this size need no memory of their own.
inline constexpr std::size_t kInsideMax = 15;
/// Longer texts are not kept.
inline constexpr std::size_t kTextBytesMax = 1031;
/// The most that a thread keeps, in bytes: what a page of 1,000 entities of 300 bytes has.
inline constexpr std::size_t kKeptBytesMax = std::size_t{512} << 10;

/// Copies a text that is longer than kInsideMax. See copy().
std::string copy_long(std::string_view text);
/// Returns a copy of the text, in kept memory of its size if there is some. Throws std::bad_alloc.
inline std::string copy(std::string_view text) {
  return text.size() <= kInsideMax ? std::string(text) : copy_long(text);
}
/// Keeps the memory of a text that copy() made, which is empty afterwards, or does nothing. Any thread may give back a
/// text that another one made.
/// @{
void give_back_long(std::string& text) noexcept;
inline void give_back(std::string& text) noexcept {
  if (text.capacity() > kInsideMax) give_back_long(text);
}
/// @}

/// Returns the bytes that the calling thread keeps.
std::size_t kept_bytes() noexcept;

}  // namespace varve::spare_texts
