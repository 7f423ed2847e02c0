// Owns: the shared parts of the tests of encryption: keys, a source of chosen bytes, hexadecimal text.
// Must never: be random.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <varve/encryption/encrypted_table.h>

namespace varve::test {

/// Returns "68656c6c6f" for "hello".
inline std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    for (const unsigned shift : {4u, 0u})
      text.push_back("0123456789abcdef"[static_cast<std::uint8_t>(byte) >> shift & 15]);
  }
  return text;
}

inline std::string unhex(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(text.substr(at, 2)), nullptr, 16)));
  }
  return bytes;
}

inline SecretBytes secret(std::string_view bytes) {
  return SecretBytes::copy_of({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}
inline std::string text_of(const SecretBytes& bytes) {
  return {bytes.bytes().begin(), bytes.bytes().end()};
}

/// Returns this many bytes, each one more than the one before.
inline std::string counting(std::uint8_t first, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(first + i));
  return bytes;
}

/// Returns the chosen bytes in turn, and then continues counting, so that no bytes repeat.
class ChosenBytes final : public RandomBytes {
 public:
  explicit ChosenBytes(std::vector<std::string> chosen = {}) : chosen_(std::move(chosen)) {}
  Status fill(std::span<std::uint8_t> out) override {
    ++calls_;
    if (!chosen_.empty()) {
      EXPECT_EQ(chosen_.front().size(), out.size());
      std::copy(chosen_.front().begin(), chosen_.front().end(), out.begin());
      chosen_.erase(chosen_.begin());
      return {};
    }
    std::fill(out.begin(), out.end(), static_cast<std::uint8_t>(calls_));
    return {};
  }
  int calls() const noexcept { return calls_; }

 private:
  std::vector<std::string> chosen_;
  int calls_ = 0;
};

/// Returns the content key and the IV of the vector of C-27.
inline ChosenBytes vector_bytes() {
  return ChosenBytes({counting(0x00, 32), counting(0x10, 16)});
}

using Key = std::shared_ptr<const KeyEncryptionKey>;

inline Key aes_key(std::string_view id, std::uint8_t first = 0x40) {
  Result<Key> key = make_aes_key(std::string(id), secret(counting(first, 32)));
  EXPECT_TRUE(key.ok()) << key.status().to_string();
  return key.ok() ? *std::move(key) : nullptr;
}

/// Returns the text of a String property, "-" if there is none.
inline std::string text_in(const Entity& entity, std::string_view name) {
  const Value* const value = entity.find(name);
  return value != nullptr && value->get_if<std::string>() != nullptr ? *value->get_if<std::string>() : "-";
}
/// Returns the bytes of a Binary property, "-" if there is none.
inline std::string bytes_in(const Entity& entity, std::string_view name) {
  const Value* const value = entity.find(name);
  return value != nullptr && value->get_if<Binary>() != nullptr ? value->get_if<Binary>()->bytes : "-";
}

}  // namespace varve::test
