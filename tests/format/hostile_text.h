// Owns: a slow, simple reference for UTF-8, and texts chosen to break faster code.
// Must never: share code with format/keys/sort_key.cc, which it checks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/format/random_values.h"

namespace varve::format {

inline void append_utf8(std::string& out, char32_t code_point) {
  const auto push = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0 | code_point >> 6);
    push(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    push(0xE0 | code_point >> 12);
    push(0x80 | (code_point >> 6 & 0x3F));
    push(0x80 | (code_point & 0x3F));
  } else {
    push(0xF0 | code_point >> 18);
    push(0x80 | (code_point >> 12 & 0x3F));
    push(0x80 | (code_point >> 6 & 0x3F));
    push(0x80 | (code_point & 0x3F));
  }
}

inline std::string utf8(std::u32string_view code_points) {
  std::string text;
  for (const char32_t code_point : code_points) append_utf8(text, code_point);
  return text;
}

inline bool is_scalar_value(char32_t code_point) noexcept {
  return code_point < 0xD800 || (code_point > 0xDFFF && code_point <= 0x10FFFF);
}

/// Returns the code points of `text`, or nothing if it is not UTF-8. It decodes the bits, then checks whether the
/// number is allowed, and whether its encoding is the shortest.
inline std::optional<std::u32string> slow_code_points(std::string_view text) {
  std::u32string code_points;
  while (!text.empty()) {
    const unsigned lead = static_cast<unsigned char>(text[0]);
    std::size_t bytes = 1;
    char32_t code_point = lead;
    if ((lead & 0xE0) == 0xC0) {
      bytes = 2;
      code_point = lead & 0x1F;
    } else if ((lead & 0xF0) == 0xE0) {
      bytes = 3;
      code_point = lead & 0x0F;
    } else if ((lead & 0xF8) == 0xF0) {
      bytes = 4;
      code_point = lead & 0x07;
    } else if (lead >= 0x80) {
      return std::nullopt;
    }
    if (bytes > text.size()) return std::nullopt;
    for (std::size_t i = 1; i < bytes; ++i) {
      code_point = code_point << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
    }
    std::string own;
    append_utf8(own, code_point);
    if (!is_scalar_value(code_point) || text.substr(0, bytes) != own) return std::nullopt;
    code_points.push_back(code_point);
    text.remove_prefix(bytes);
  }
  return code_points;
}

/// Ends the process if `text` is not UTF-8, which is a mistake in a test. Vectors of code units compare in the order of
/// the service.
inline std::vector<std::uint16_t> slow_utf16(std::string_view text) {
  const std::optional<std::u32string> code_points = slow_code_points(text);
  if (!code_points.has_value()) std::abort();
  std::vector<std::uint16_t> units;
  for (const char32_t code_point : *code_points) {
    if (code_point < 0x10000) {
      units.push_back(static_cast<std::uint16_t>(code_point));
    } else {
      units.push_back(static_cast<std::uint16_t>(0xD800 + ((code_point - 0x10000) >> 10)));
      units.push_back(static_cast<std::uint16_t>(0xDC00 + ((code_point - 0x10000) & 0x3FF)));
    }
  }
  return units;
}

/// Characters on both sides of every border that an encoding of text must consider.
inline constexpr std::u32string_view kBorderCharacters(
    U"\x00\x01\x02 /0aA~\x7F\u0080\u00E9\u07FF\u0800\uD7FF\uE000\uE001\uEFFF\uF000\uFEFF\uFFFD\uFFFF"
    U"\U00010000\U0001F600\U000FFFFF\U00100000\U0010FFFF",
    27);

inline char32_t any_scalar_value(RandomValues& random) {
  while (true) {
    const auto code_point = static_cast<char32_t>(random.below(0x110000));
    if (is_scalar_value(code_point)) return code_point;
  }
}

/// Returns a text that is often empty or short, and sometimes longer than several words. It has runs of ASCII of every
/// length between other characters.
inline std::string hostile_text(RandomValues& random) {
  std::string text;
  const std::uint64_t pieces = random.one_in(8) ? random.below(40) : random.below(5);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    switch (random.below(4)) {
      case 0: text.append(random.below(20), static_cast<char>('a' + random.below(3))); break;
      case 1: append_utf8(text, any_scalar_value(random)); break;
      default: append_utf8(text, kBorderCharacters[random.below(kBorderCharacters.size())]); break;
    }
  }
  return text;
}

/// Returns a text near `text`: the text itself, a prefix of it, or a prefix followed by other characters. Independent
/// random pairs almost never share long prefixes.
inline std::string neighbour_of(std::string_view text, RandomValues& random) {
  std::u32string code_points = *slow_code_points(text);
  code_points.resize(random.below(code_points.size() + 1));
  std::string neighbour = utf8(code_points);
  if (random.one_in(2)) neighbour.append(hostile_text(random));
  return random.one_in(8) ? std::string(text) : neighbour;
}

/// Returns `bytes` with one small change. By chance they may be unchanged.
inline std::string mutated(std::string bytes, RandomValues& random) {
  constexpr std::string_view kLikely("\x00\x01\x02\x7F\x80\xBF\xC0\xED\xEE\xEF\xF0\xF4\xF5\xF6\xF7\xFF", 16);
  const char byte = random.one_in(2) ? kLikely[random.below(kLikely.size())] : static_cast<char>(random.below(256));
  const std::size_t place = random.below(bytes.size() + 1);
  switch (random.below(4)) {
    case 0: bytes.insert(place, 1, byte); break;
    case 1: bytes.erase(place, 1 + random.below(3)); break;
    case 2: bytes.insert(place, bytes.substr(random.below(bytes.size() + 1), random.below(9))); break;
    default:
      if (place < bytes.size()) bytes[place] = byte;
      break;
  }
  return bytes;
}

}  // namespace varve::format
