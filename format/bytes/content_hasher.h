// Owns: the content hash of bytes that arrive in pieces.
// Must never: differ from content_hash() of all pieces joined together.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace varve::format {

/// Computes the content hash of a file that is written or read front to back. One thread at a time may use a hasher.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(ContentHasher&& other) noexcept;
  ContentHasher& operator=(ContentHasher&& other) noexcept;

  void update(std::string_view bytes) noexcept;
  /// Returns the hash of all bytes so far. More bytes may follow.
  std::uint64_t digest() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace varve::format
