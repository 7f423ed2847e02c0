// Owns: the rule for texts that are sent as values of HTTP headers.
// Must never: ask for an encoding. Bytes above ASCII are sent as they are given (QB-05, BB-03).
#pragma once

#include <algorithm>
#include <string_view>

namespace varve {

constexpr bool is_header_control(char c) noexcept {
  return c != '\t' && (c == 0x7F || static_cast<unsigned char>(c) < 0x20);
}

/// Header values have visible characters, blanks and tabs between them, and any bytes above ASCII.
inline bool is_header_text(std::string_view value) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  if (value.empty()) return true;
  return !blank(value.front()) && !blank(value.back()) && std::none_of(value.begin(), value.end(), is_header_control);
}

}  // namespace varve
