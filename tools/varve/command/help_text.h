// Owns: the layout of help texts: groups of options, and lines that fit the terminal.
// Must never: know a verb.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace varve::tool {

/// The heading above the examples in a footer. Each example is an indented line; one that ends in a backslash goes on
/// in the next line.
inline constexpr std::string_view kExamples = "Examples";

/// Returns the text in lines of at most `columns`. The lines of a paragraph are joined and wrapped, but an indented line
/// stays as it is. A first line of a paragraph that is short and has no full stop is a heading.
std::string wrapped(std::string_view text, std::size_t columns);

/// Returns the columns for help: the terminal's, at most 100; 80 if there is no terminal and no COLUMNS.
std::size_t help_columns() noexcept;

/// Lays out the help of one verb, or the list of verbs.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace varve::tool
