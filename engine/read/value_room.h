// Owns: memory for the values of entries that are read together, and are needed only until their entities are made.
// Must never: move a value, or free one before all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::engine {

/// Use it from one thread.
class ValueRoom {
 public:
  ValueRoom() noexcept = default;  // leaves the inline memory uninitialized: it is written before it is read
  ValueRoom(const ValueRoom&) = delete;
  ValueRoom& operator=(const ValueRoom&) = delete;

  /// Returns a copy of the value, valid as long as this object. Throws std::bad_alloc.
  std::string_view copy(std::string_view value) {
    if (value.empty()) return {};
    char* const at = take(value.size());
    std::memcpy(at, value.data(), value.size());
    return {at, value.size()};
  }

 private:
  static constexpr std::size_t kInlineBytes = 1024;
  static constexpr std::size_t kPieceBytes = std::size_t{16} << 10;

  char* take(std::size_t bytes) {
    if (bytes > left_) {
      const bool is_alone = bytes > kPieceBytes / 4;
      std::unique_ptr<char[]> piece(new char[is_alone ? bytes : kPieceBytes]);  // owned before the list grows
      pieces_.push_back(std::move(piece));
      if (is_alone) return pieces_.back().get();
      at_ = pieces_.back().get();
      left_ = kPieceBytes;
    }
    char* const taken = at_;
    at_ += bytes;
    left_ -= bytes;
    return taken;
  }

  std::array<char, kInlineBytes> inline_;
  char* at_ = inline_.data();
  std::size_t left_ = kInlineBytes;
  std::vector<std::unique_ptr<char[]>> pieces_;
};

}  // namespace varve::engine
