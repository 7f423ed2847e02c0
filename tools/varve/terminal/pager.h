// Owns: the pager: output that is longer than the screen goes to a program that shows it screen by screen.
// Must never: page what a pipe or a file gets.
#pragma once

#include <ostream>

namespace varve::tool {

/// Forbids the pager for the rest of the program.
void use_no_pager() noexcept;

/// From now on, text for std::cout is held until it is longer than the screen. Then it goes to the pager: $VARVE_PAGER,
/// $PAGER or `less -FRX`. Does nothing if standard output or standard input is no terminal, if the terminal is dumb, or
/// if the pager's name is empty or `cat`.
void page_long_output();

/// Returns whether a pager has the terminal, so that nothing else may write to it.
bool has_running_pager() noexcept;

/// Shows the held text, and waits until the pager ends. Returns whether the person left the pager before the end of the
/// output.
bool finish_paging();

}  // namespace varve::tool
