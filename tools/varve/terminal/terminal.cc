// Owns: the columns of characters (terminal.h).
// Must never: depend on the locale of the calling program: stored texts are always UTF-8.
#include "tools/varve/terminal/terminal.h"

#include <array>
#include <charconv>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cwchar>

#include <sys/ioctl.h>
#include <unistd.h>

namespace varve::tool {

namespace {

constexpr std::string_view kEllipsis = "…";

struct Character {
  std::uint32_t code_point = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// Returns the first character of `text`, which is not empty.
Character first_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code_point = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3FU);
  }
  return {code_point, bytes, true};
}

/// Returns the columns by Unicode's East Asian width, as the C library defines it. Returns less than zero if the
/// character must not be printed.
int columns_of(std::uint32_t code_point) {
  static const bool known = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  if (code_point >= 0x20 && code_point < 0x7F) return 1;
  if (is_terminal_command(code_point)) return -1;
  return known ? wcwidth(static_cast<wchar_t>(code_point)) : 1;
}

std::string escape_of(const Character& character, std::string_view text) {
  std::array<char, 16> escape{};
  if (!character.valid) {
    std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(text.front()));
  } else if (character.code_point == '\n') {
    return "\\n";
  } else if (character.code_point == '\r') {
    return "\\r";
  } else if (character.code_point == '\t') {
    return "\\t";
  } else {
    std::snprintf(escape.data(), escape.size(), "\\u{%x}", static_cast<unsigned>(character.code_point));
  }
  return escape.data();
}

}  // namespace

bool is_terminal_output() noexcept {
  return isatty(STDOUT_FILENO) == 1;
}

bool is_terminal_command(std::uint32_t code_point) noexcept {
  if (code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0)) return true;
  const bool is_mark = code_point == 0x061C || code_point == 0x200E || code_point == 0x200F;
  return is_mark || (code_point >= 0x2028 && code_point <= 0x202E) || (code_point >= 0x2066 && code_point <= 0x2069);
}

std::string shown_lines(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const bool is_plain =
        character.valid && (character.code_point == '\n' || !is_terminal_command(character.code_point));
    if (is_plain) {
      shown += text.substr(0, character.bytes);
    } else {
      shown += escape_of(character, text);
    }
    text.remove_prefix(character.bytes);
  }
  return shown;
}

std::size_t whole_characters(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto lead = static_cast<unsigned char>(text[text.size() - back]);
    if ((lead & 0xC0U) == 0x80) continue;
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
    return bytes > back ? text.size() - back : text.size();
  }
  return text.size();
}

std::string for_output(std::string_view text) {
  if (!is_terminal_output()) return std::string(text);
  std::string shown = shown_lines(text);
  for (std::size_t at = 0; (at = shown.find('\n', at)) != std::string::npos; at += 2) shown.replace(at, 1, "\\n");
  return shown;
}

std::size_t output_columns() noexcept {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* variable = std::getenv("COLUMNS");
  std::size_t columns = 0;
  if (variable != nullptr) std::from_chars(variable, variable + std::char_traits<char>::length(variable), columns);
  return columns > 0 ? columns : SIZE_MAX;
}

ShownText show_text(std::string_view text, std::size_t columns_max) {
  ShownText shown;
  ShownText with_room;  // the text that leaves a column for the ellipsis
  while (!text.empty()) {
    const Character character = first_character(text);
    const int columns = character.valid ? columns_of(character.code_point) : -1;
    const std::string piece = columns >= 0 ? std::string(text.substr(0, character.bytes)) : escape_of(character, text);
    const std::size_t wide = columns >= 0 ? static_cast<std::size_t>(columns) : piece.size();
    if (shown.columns + wide > columns_max) {
      with_room.text += kEllipsis;
      ++with_room.columns;
      return with_room;
    }
    shown.text += piece;
    shown.columns += wide;
    if (shown.columns + 1 <= columns_max) with_room = shown;
    text.remove_prefix(character.bytes);
  }
  return shown;
}

}  // namespace varve::tool
