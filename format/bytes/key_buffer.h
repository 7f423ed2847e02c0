// Owns: the bytes of a cursor's current key, which are joined from pieces.
// Must never: allocate for a key that fits the present capacity. Ordinary keys fit the inline buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace varve::format {

class KeyBuffer {
 public:
  KeyBuffer() noexcept = default;  // leaves the inline buffer uninitialized: it is written before it is read
  KeyBuffer(const KeyBuffer&) = delete;
  KeyBuffer& operator=(const KeyBuffer&) = delete;

  std::string_view view() const noexcept { return {data_, size_}; }
  std::size_t size() const noexcept { return size_; }

  /// Keeps the first `kept` bytes and appends `tail` to them.
  void replace_tail(std::size_t kept, std::string_view tail) {
    const std::size_t size = kept + tail.size();
    if (size > capacity_) [[unlikely]]
      grow(size);
    copy(data_ + kept, tail);
    size_ = size;
  }

  /// Does the same. kShortTail bytes can be read from the start of `tail`, which nearly always has fewer.
  [[gnu::always_inline]] void replace_short_tail(std::size_t kept, std::string_view tail) {
    if (tail.size() > kShortTail || kept + kShortTail > capacity_) [[unlikely]]
      return replace_tail(kept, tail);
    std::memcpy(data_ + kept, tail.data(), kShortTail);
    size_ = kept + tail.size();
  }
  static constexpr std::size_t kShortTail = 8;

  /// Becomes `head`, then `tail`. `head` may lie in this buffer, for example when a cursor seeks its own key. `tail`
  /// may not.
  void assign(std::string_view head, std::string_view tail) {
    const std::size_t size = head.size() + tail.size();
    const std::unique_ptr<char[]> old = size > capacity_ ? take_and_grow(size) : nullptr;
    if (!head.empty()) std::memmove(data_, head.data(), head.size());
    copy(data_ + head.size(), tail);
    size_ = size;
  }

 private:
  static constexpr std::size_t kInlineBytes = 120;

  static void copy(char* to, std::string_view from) noexcept {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }
  /// Allocates a new buffer. Returns the old heap buffer, so that the caller can still copy from it.
  std::unique_ptr<char[]> take_and_grow(std::size_t size) {
    const std::size_t capacity = 2 * size;
    std::unique_ptr<char[]> room(new char[capacity]);
    heap_.swap(room);
    data_ = heap_.get();
    capacity_ = capacity;
    return room;
  }
  void grow(std::size_t size) {
    const char* const old_data = data_;
    const std::unique_ptr<char[]> old = take_and_grow(size);
    if (size_ > 0) std::memcpy(data_, old_data, size_);
  }

  std::array<char, kInlineBytes> inline_;
  std::unique_ptr<char[]> heap_;
  char* data_ = inline_.data();
  std::size_t size_ = 0;
  std::size_t capacity_ = kInlineBytes;
};

}  // namespace varve::format
