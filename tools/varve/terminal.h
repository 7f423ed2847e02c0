// Owns: what is known of the terminal behind standard output, and how much of it a text takes.
// Must never: let a control character of stored data reach a terminal, where it would be a command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve::tool {

/// Standard output is read by a person at a terminal.
bool is_terminal_output() noexcept;

/// Columns of the terminal; without one, of the variable COLUMNS; without that, no limit (SIZE_MAX).
std::size_t output_columns() noexcept;

/// A text that can be shown on one line, and how many columns it takes.
struct ShownText {
  std::string text;
  std::size_t columns = 0;
};

/// Whether a terminal takes the character for a command, or lets it change where others stand: control characters (C0,
/// DEL, C1), line and paragraph separators and marks of direction.
bool is_terminal_command(std::uint32_t code_point) noexcept;

/// A text of lines as a terminal can be given it: commands but the line feed, and bytes that are not UTF-8, are written
/// as escapes.
std::string shown_lines(std::string_view text);

/// How many bytes of the text are whole characters, or bytes that begin none: all but the beginning of a last one.
std::size_t whole_characters(std::string_view text) noexcept;

/// For one line at a terminal: a line feed is an escape too. Elsewhere the text as it is.
std::string for_output(std::string_view text);

/// UTF-8 as it is shown: control characters, bytes that are not UTF-8 and what has no place of its own are written as
/// escapes. At most `columns_max` columns; a text that takes more ends in an ellipsis.
ShownText show_text(std::string_view text, std::size_t columns_max);

}  // namespace varve::tool
