// Owns: the content hash of bytes that come piece by piece.
// Must never: give another number than content_hash() of all pieces together.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace varve::format {

/// The content hash of a file that is written or read front to back. One thread at a time.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(ContentHasher&& other) noexcept;
  ContentHasher& operator=(ContentHasher&& other) noexcept;

  void update(std::string_view bytes) noexcept;
  /// Of everything so far; more may follow.
  std::uint64_t digest() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace varve::format
