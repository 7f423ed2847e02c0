// Owns: the list of a thread's spare pieces (spare_pieces.h).
// Must never: run a destructor that a later one depends on. A page may outlive the thread-local objects of its thread.
#include "api/model/spare_pieces.h"

#include <new>

namespace varve::spare_pieces {
namespace {

/// The list node, which is in the spare piece's own memory.
struct Spare {
  Spare* next;
};

// These have no destructors, so they can be used until the thread has ended.
thread_local Spare* first = nullptr;
thread_local std::size_t count = 0;
thread_local bool is_open = false;
thread_local bool is_over = false;

/// Frees the spare pieces when the thread ends, and prevents that more are kept.
struct Closing {
  ~Closing() {
    is_open = false;
    is_over = true;
    while (first != nullptr) ::operator delete(take());
  }
};

void open() {
  static thread_local Closing closing;
  static_cast<void>(closing);
  is_open = true;
}

}  // namespace

void* take() {
  if (first == nullptr) return ::operator new(kPieceBytes);
  Spare* const piece = first;
  first = piece->next;
  --count;
  return piece;
}

void give_back(void* piece) noexcept {
  if (is_over || count == kKeptBytesMax / kPieceBytes) return ::operator delete(piece);
  if (!is_open) open();
  first = ::new (piece) Spare{first};
  ++count;
}

std::size_t kept_bytes() noexcept {
  return count * kPieceBytes;
}

}  // namespace varve::spare_pieces
