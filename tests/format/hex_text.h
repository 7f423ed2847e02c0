// Owns: converting bytes to hexadecimal text and back, for golden bytes that a person can read.
// Must never: accept text other than pairs of hexadecimal digits. Spaces and line ends may separate the pairs.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace varve::format {

inline int hex_digit(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

/// Ends the process if the text is not hexadecimal, which is a mistake in a test.
inline std::string from_hex(std::string_view text) {
  std::string bytes;
  int high = -1;
  for (const char digit : text) {
    if (high < 0 && (digit == ' ' || digit == '\n')) continue;
    const int value = hex_digit(digit);
    if (value < 0) std::abort();
    if (high < 0) {
      high = value;
    } else {
      bytes.push_back(static_cast<char>(high * 16 + value));
      high = -1;
    }
  }
  if (high >= 0) std::abort();
  return bytes;
}

/// Returns the text with sixteen bytes on each line.
inline std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) text.push_back(i % 16 == 0 ? '\n' : ' ');
    const unsigned value = static_cast<unsigned char>(bytes[i]);
    text.push_back(kDigits[value / 16]);
    text.push_back(kDigits[value % 16]);
  }
  return text;
}

}  // namespace varve::format
