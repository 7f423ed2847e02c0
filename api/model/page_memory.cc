// Owns: the pieces of a page's memory (page_memory.h).
// Must never: lose a piece when memory ends.
#include "api/model/page_memory.h"

#include <cstdint>
#include <cstring>
#include <new>

#include "api/model/spare_pieces.h"

namespace varve {
namespace {

/// A request above this size gets a piece of its own, so that the rest of the current piece stays in use.
constexpr std::size_t kSharedMax = spare_pieces::kLargeBytes / 4;

}  // namespace

PageMemory::~PageMemory() {
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Kind::kSmall: spare_pieces::give_back(piece.memory); break;
      case Kind::kLarge: spare_pieces::give_back_large(piece.memory); break;
      case Kind::kOwn: ::operator delete(piece.memory); break;
    }
  }
}

char* PageMemory::add_piece(Kind kind, std::size_t bytes) {
  if (pieces_.size() == pieces_.capacity()) pieces_.reserve(2 * pieces_.size() + 4);
  void* memory = nullptr;
  switch (kind) {
    case Kind::kSmall: memory = spare_pieces::take(); break;
    case Kind::kLarge: memory = spare_pieces::take_large(); break;
    case Kind::kOwn: memory = ::operator new(bytes); break;
  }
  pieces_.push_back({memory, kind});
  bytes_ += bytes;
  return static_cast<char*>(memory);
}

char* PageMemory::take_piece(std::size_t bytes) {
  if (bytes > kSharedMax) return add_piece(Kind::kOwn, bytes);
  const bool is_small = pieces_.empty() && bytes <= spare_pieces::kPieceBytes;
  const std::size_t piece = is_small ? spare_pieces::kPieceBytes : spare_pieces::kLargeBytes;
  char* const room = add_piece(is_small ? Kind::kSmall : Kind::kLarge, piece);
  at_ = room + bytes;
  left_ = piece - bytes;
  return room;
}

}  // namespace varve
