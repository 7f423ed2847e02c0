// Owns: percent-coding, as URLs and query strings have it.
// Must never: decode a text twice.
//
// All of it is in this header, because api/security cannot link what the core does not export.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "api/model/ascii.h"

namespace varve {

/// What a `+` in an encoded text means. In the values of a query string it is a space.
enum class PlusSign { kItself, kSpace };

/// Replaces each `%hh` by its byte. Returns nothing if a `%` is not followed by two hexadecimal digits.
inline std::optional<std::string> percent_decode(std::string_view text, PlusSign plus = PlusSign::kItself) {
  std::string decoded;
  decoded.reserve(text.size());
  for (;;) {
    const std::size_t plain = std::min(text.find('%'), text.size());
    decoded.append(text.substr(0, plain));
    if (plus == PlusSign::kSpace)
      std::replace(decoded.end() - static_cast<std::ptrdiff_t>(plain), decoded.end(), '+', ' ');
    text.remove_prefix(plain);
    if (text.empty()) return decoded;
    if (text.size() < 3) return std::nullopt;
    const std::optional<unsigned> high = hex_digit(text[1]);
    const std::optional<unsigned> low = hex_digit(text[2]);
    if (!high || !low) return std::nullopt;
    decoded.push_back(static_cast<char>(*high << 4 | *low));
    text.remove_prefix(3);
  }
}

/// Replaces every byte except letters, digits and `-._~` by `%HH`.
inline std::string percent_encode(std::string_view text) {
  constexpr std::string_view kEscapeDigits = "0123456789ABCDEF";
  const auto is_unreserved = [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
  };
  std::string encoded;
  while (!text.empty()) {
    const auto reserved = std::find_if_not(text.begin(), text.end(), is_unreserved);
    encoded.append(text.begin(), reserved);
    text.remove_prefix(static_cast<std::size_t>(reserved - text.begin()));
    if (text.empty()) break;
    const auto byte = static_cast<unsigned char>(text.front());
    encoded.append(1, '%').append(1, kEscapeDigits[byte >> 4]).append(1, kEscapeDigits[byte & 0xF]);
    text.remove_prefix(1);
  }
  return encoded;
}

}  // namespace varve
