// Owns: the classes of ASCII characters that names and filters consist of.
// Must never: depend on the locale.
#pragma once

namespace varve {

constexpr bool is_lower(char c) noexcept {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) noexcept {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) noexcept {
  return is_lower(c) || is_upper(c);
}

}  // namespace varve
