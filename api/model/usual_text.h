// Owns: quick tests of the texts that nearly all names and keys are, eight bytes at a time.
// Must never: accept a text that the full rule refuses (names.h), or read a byte outside the text. A refused text is
// judged by the full rule.
//
// A test adds a constant to each byte, which is below 80 (hexadecimal). So no byte carries into the next one, and the
// byte's high bit is the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/model/ascii.h"
#include "format/bytes/bytes.h"

namespace varve {
namespace usual_text_detail {

using Word = std::uint64_t;
constexpr std::size_t kEightBytes = sizeof(Word);
constexpr Word kEachByte = 0x0101010101010101;
constexpr Word kEachHighBit = 0x80 * kEachByte;

/// Each sets the high bits of the bytes for which it is true.
constexpr Word at_least(Word word, unsigned char least) noexcept {
  return word + (0x80U - least) * kEachByte;
}
constexpr Word is_byte(Word word, unsigned char byte) noexcept {
  return kEachHighBit - (word ^ (byte * kEachByte));
}
constexpr Word is_between(Word word, unsigned char first, unsigned char last) noexcept {
  return at_least(word, first) & ~at_least(word, static_cast<unsigned char>(last + 1));
}

/// Returns one to seven bytes of a text, some of them more than once.
inline Word few_bytes(std::string_view text) noexcept {
  if (text.size() >= 4) {
    const Word last = format::load_u32(text.data() + text.size() - 4);
    return format::load_u32(text.data()) | last << 32;
  }
  constexpr Word kThrice = 0x0001000001000001;
  const auto byte = [&text](std::size_t index) { return static_cast<Word>(static_cast<unsigned char>(text[index])); };
  return (byte(0) | byte(text.size() / 2) << 8 | byte(text.size() - 1) << 16) * kThrice;
}

/// Returns whether all bytes are ASCII, and pass the test of a word.
template <typename Test>
bool all_pass(std::string_view text, const Test& test) noexcept {
  const auto passes = [&test](Word word) {
    return (word & kEachHighBit) == 0 && (test(word) & kEachHighBit) == kEachHighBit;
  };
  if (text.size() < kEightBytes) return text.empty() || passes(few_bytes(text));
  for (std::size_t at = 0; at < text.size() - kEightBytes; at += kEightBytes) {
    if (!passes(format::load_u64(text.data() + at))) return false;
  }
  return passes(format::load_u64(text.data() + text.size() - kEightBytes));
}

}  // namespace usual_text_detail

/// Returns whether the text is an identifier of ASCII letters, digits and `_`.
inline bool is_ascii_identifier(std::string_view text) noexcept {
  if (text.empty() || is_digit(text.front())) return false;
  namespace detail = usual_text_detail;
  return detail::all_pass(text, [](detail::Word word) {
    constexpr detail::Word kLowerCase = 0x20 * detail::kEachByte;
    return detail::is_between(word | kLowerCase, 'a', 'z') | detail::is_between(word, '0', '9') |
           detail::is_byte(word, '_');
  });
}

/// Returns whether the text has only ASCII characters, and only those that keys may have (D-11). The empty text has.
inline bool is_plain_key(std::string_view text) noexcept {
  namespace detail = usual_text_detail;
  return detail::all_pass(text, [](detail::Word word) {
    static_assert(('/' | 0x10) == '?');
    const detail::Word forbidden = detail::is_byte(word | 0x10 * detail::kEachByte, '?') | detail::is_byte(word, '\\') |
                                   detail::is_byte(word, '#') | detail::is_byte(word, 0x7F);
    return detail::at_least(word, 0x20) & ~forbidden;
  });
}

}  // namespace varve
