// Owns: a thread's lists of spare pieces, and of spare texts, one list for each size (spare_pieces.h).
// Must never: return a text that is too short for its new content, or run a destructor that a later one depends on. A page or an
// entity may outlive the thread-local objects of its thread.
#include "api/model/spare_pieces.h"

#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

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

namespace varve::spare_texts {
namespace {

// Allocators hand out multiples of 16 bytes, less 8 of their own. A text has one byte more than its capacity.
constexpr std::size_t kSizeStep = 16;
constexpr std::size_t kBelowStep = 7;
constexpr std::size_t kSizes = kTextBytesMax / kSizeStep + 1;

constexpr std::size_t capacity_of(std::size_t size) noexcept {
  return size * kSizeStep + kBelowStep;
}
static_assert(capacity_of(kSizes - 1) == kTextBytesMax);

/// Returns the smallest size that fits a text of so many bytes.
constexpr std::size_t size_for(std::size_t bytes) noexcept {
  return (bytes + kSizeStep - kBelowStep - 1) / kSizeStep;
}

/// Returns whether copy() makes texts of this capacity. Few other texts have it, and those could serve no copy.
constexpr bool is_of_a_size(std::size_t capacity) noexcept {
  return capacity % kSizeStep == kBelowStep && capacity >= capacity_of(1) && capacity <= kTextBytesMax;
}

constexpr std::size_t bytes_kept_for(std::size_t size) noexcept {
  return capacity_of(size) + sizeof(std::string);
}

struct Lists {
  std::array<std::vector<std::string>, kSizes> of_size;
  std::size_t kept = 0;  // bytes
};

// These have no destructors, so they can be used until the thread has ended.
thread_local Lists* lists = nullptr;
thread_local bool are_over = false;

/// Frees the texts when the thread ends, and prevents that more are kept.
struct TextsClosing {
  ~TextsClosing() {
    are_over = true;
    delete std::exchange(lists, nullptr);
  }
};

Lists* open_lists() noexcept {
  if (are_over) return nullptr;
  static thread_local TextsClosing closing;
  static_cast<void>(closing);
  lists = new (std::nothrow) Lists;
  return lists;
}

}  // namespace

std::string copy_long(std::string_view text) {
  if (text.size() > kTextBytesMax) return std::string(text);
  const std::size_t size = size_for(text.size());
  Lists* const mine = lists;
  std::vector<std::string>* const kept = mine == nullptr ? nullptr : &mine->of_size[size];
  const bool is_kept = kept != nullptr && !kept->empty();
  // A text that is made of bytes has exactly their capacity. With reserve(), it may have more.
  std::string made = is_kept ? std::move(kept->back()) : std::string(capacity_of(size), '\0');
  if (is_kept) {
    kept->pop_back();
    mine->kept -= bytes_kept_for(size);
  }
  if (made.size() != text.size()) made.resize(text.size());  // A kept text mostly has the size already.
  std::memcpy(made.data(), text.data(), text.size());
  return made;
}

void give_back_long(std::string& text) noexcept {
  const std::size_t capacity = text.capacity();
  if (!is_of_a_size(capacity)) return;
  Lists* mine = lists;
  if (mine == nullptr) [[unlikely]] {
    mine = open_lists();
    if (mine == nullptr) return;
  }
  const std::size_t size = capacity / kSizeStep;
  if (mine->kept + bytes_kept_for(size) > kKeptBytesMax) return;
  try {
    mine->of_size[size].push_back(std::move(text));
    mine->kept += bytes_kept_for(size);
  } catch (const std::bad_alloc&) {
    text.clear();  // It keeps its memory.
  }
}

std::size_t kept_bytes() noexcept {
  return lists == nullptr ? 0 : lists->kept;
}

}  // namespace varve::spare_texts
