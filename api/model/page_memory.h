// Owns: the memory of one page: it only grows, in few pieces, and ends as a whole.
// Must never: move what it gave out.
//
// The first piece is small, and the later ones are large. Both come from the thread's spare pieces and return to them
// (spare_pieces.h), so that a page does not fault in the memory that the page before it freed. What does not fit in a
// quarter of a large piece has a piece of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace varve {

/// Use it from one thread at a time. Throws only std::bad_alloc, and is then as before.
class PageMemory {
 public:
  PageMemory() noexcept = default;
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;
  ~PageMemory();

  /// Returns room for `bytes` bytes. `alignment` is a power of two, at most that of `operator new`.
  char* take(std::size_t bytes, std::size_t alignment) {
    const std::size_t skipped = (0 - reinterpret_cast<std::uintptr_t>(at_)) & (alignment - 1);
    if (skipped + bytes > left_) [[unlikely]]
      return take_piece(bytes);
    char* const room = at_ + skipped;
    at_ = room + bytes;
    left_ -= skipped + bytes;
    return room;
  }
  /// Returns a copy of the text, with a zero after it.
  std::string_view copy(std::string_view text) {
    char* const room = take(text.size() + 1, 1);
    if (!text.empty()) std::memcpy(room, text.data(), text.size());
    room[text.size()] = '\0';
    return {room, text.size()};
  }

  /// Returns the bytes of all pieces.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  enum class Kind : std::uint8_t { kSmall, kLarge, kOwn };
  struct Piece {
    void* memory;
    Kind kind;
  };

  /// Takes the room from a new piece.
  char* take_piece(std::size_t bytes);
  char* add_piece(Kind kind, std::size_t bytes);

  std::vector<Piece> pieces_;
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace varve
