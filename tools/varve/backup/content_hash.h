// Owns: the SHA-256 of content, by which a backup names its files.
// Must never: be a hash for which different contents with one value can be made.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace varve::tool {

class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  void update(std::string_view bytes);
  /// Returns 64 hexadecimal digits, or an empty text if OpenSSL failed. Called once.
  std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string content_hash_of(std::string_view bytes);

}  // namespace varve::tool
