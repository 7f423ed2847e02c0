// Owns: the lists of a thread's spare pieces (spare_pieces.h).
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
thread_local Spare* small = nullptr;
thread_local Spare* large = nullptr;
thread_local std::size_t kept = 0;  // bytes
thread_local bool is_open = false;
thread_local bool is_over = false;

void free_all(Spare*& first) noexcept {
  while (first != nullptr) {
    Spare* const piece = first;
    first = piece->next;
    ::operator delete(piece);
  }
}

/// Frees the spare pieces when the thread ends, and prevents that more are kept.
struct Closing {
  ~Closing() {
    is_open = false;
    is_over = true;
    free_all(small);
    free_all(large);
    kept = 0;
  }
};

void open() {
  static thread_local Closing closing;
  static_cast<void>(closing);
  is_open = true;
}

void* take_from(Spare*& first, std::size_t bytes) {
  if (first == nullptr) return ::operator new(bytes);
  Spare* const piece = first;
  first = piece->next;
  kept -= bytes;
  return piece;
}

void give_to(Spare*& first, std::size_t bytes, void* piece) noexcept {
  if (is_over || kept + bytes > kKeptBytesMax) return ::operator delete(piece);
  if (!is_open) open();
  first = ::new (piece) Spare{first};
  kept += bytes;
}

}  // namespace

void* take() {
  return take_from(small, kPieceBytes);
}

void* take_large() {
  return take_from(large, kLargeBytes);
}

void give_back(void* piece) noexcept {
  give_to(small, kPieceBytes, piece);
}

void give_back_large(void* piece) noexcept {
  give_to(large, kLargeBytes, piece);
}

std::size_t kept_bytes() noexcept {
  return kept;
}

}  // namespace varve::spare_pieces
