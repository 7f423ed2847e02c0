// Owns: what is known of the terminal behind standard output, and how much of it a text takes.
// Must never: let a control character of stored data reach a terminal, where it would be a command.
#pragma once

#include <cstddef>
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

/// UTF-8 as it is shown: control characters, bytes that are not UTF-8 and what has no place of its own are written as
/// escapes. At most `columns_max` columns; a text that takes more ends in an ellipsis.
ShownText show_text(std::string_view text, std::size_t columns_max);

}  // namespace varve::tool
