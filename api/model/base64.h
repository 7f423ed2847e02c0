// Owns: base64, in the standard alphabet or another one.
// Must never: accept two texts for the same bytes, unless the caller allows it.
//
// All of it is in this header, because api/encryption cannot link what the core does not export.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace varve {

struct Base64Alphabet {
  std::string_view digits;
  char padding = '=';

  /// Returns the value of each character, or kNoDigit.
  constexpr std::array<std::uint8_t, 256> values() const noexcept {
    std::array<std::uint8_t, 256> values{};
    values.fill(kNoDigit);
    for (std::size_t i = 0; i < digits.size(); ++i) {
      values[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
  }
  static constexpr std::uint8_t kNoDigit = 64;
};

inline constexpr Base64Alphabet kBase64{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};

template <const Base64Alphabet& kAlphabet = kBase64>
std::string encode_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, kAlphabet.padding);
  char* out = text.data();
  for (std::size_t at = 0; at < bytes.size(); at += 3, out += 4) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0u);
    }
    for (std::size_t i = 0; i <= group.size(); ++i) out[i] = kAlphabet.digits[bits >> (18 - 6 * i) & 63];
  }
  return text;
}

/// Whether the bits of the last digit that belong to no byte may be set. encode_base64() leaves them zero.
enum class UnusedBits { kMustBeZero, kMayBeSet };

/// Returns the bytes, or nothing if the text is not base64 with padding.
template <const Base64Alphabet& kAlphabet = kBase64>
std::optional<std::string> decode_base64(std::string_view text, UnusedBits unused = UnusedBits::kMustBeZero) {
  static constexpr std::array<std::uint8_t, 256> kValues = kAlphabet.values();
  if (text.size() % 4 != 0) return std::nullopt;
  std::string_view digits = text;
  while (text.size() - digits.size() < 2 && !digits.empty() && digits.back() == kAlphabet.padding) {
    digits.remove_suffix(1);
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char digit : digits) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(digit)];
    if (value == Base64Alphabet::kNoDigit) return std::nullopt;
    group = group << 6 | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(group >> bits & 0xFF));
  }
  const bool is_exact = (group & ((1u << bits) - 1)) == 0;
  if (!is_exact && unused == UnusedBits::kMustBeZero) return std::nullopt;
  return bytes;
}

}  // namespace varve
