// Owns: the properties of the terminal on standard output, and the columns that a text uses on it.
// Must never: let a control character of stored data reach a terminal, where it would be a command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve::tool {

/// Returns whether standard output is a terminal.
bool is_terminal_output() noexcept;

/// Returns the columns of the terminal. Without a terminal, it returns the variable COLUMNS. Without that variable,
/// there is no limit (SIZE_MAX).
std::size_t output_columns() noexcept;

/// A text that can be shown on one line, and the columns that it uses.
struct ShownText {
  std::string text;
  std::size_t columns = 0;
};

/// Returns whether a terminal interprets the character as a command, or whether the character moves other characters.
/// These are control characters (C0, DEL, C1), line and paragraph separators, and direction marks.
bool is_terminal_command(std::uint32_t code_point) noexcept;

/// Returns lines of text that are safe for a terminal. Line feeds stay. Other commands, and bytes that are not UTF-8,
/// are written as escapes.
std::string shown_lines(std::string_view text);

/// Returns the bytes of the text without an incomplete last character. Bytes that begin no character count as complete.
std::size_t whole_characters(std::string_view text) noexcept;

/// Returns a text for one line of a terminal, with line feeds as escapes too. If standard output is no terminal, the
/// text is unchanged.
std::string for_output(std::string_view text);

/// Returns UTF-8 as it is shown. Control characters, bytes that are not UTF-8 and characters without a column are
/// written as escapes. A text of more than `columns_max` columns is cut and ends in an ellipsis.
ShownText show_text(std::string_view text, std::size_t columns_max);

}  // namespace varve::tool
