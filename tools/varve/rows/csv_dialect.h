// Owns: how a file with columns is written: the separator, the quote, and the lines without a row.
// Must never: choose a separator by which the file has no key column, if another has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/rows/row_shape.h"
#include "varve/result.h"

namespace varve::tool {

struct CsvDialect {
  /// Without a value, the file's first lines decide.
  std::optional<char> delimiter{};
  /// Without a value, nothing quotes.
  std::optional<char> quote = '"';
  /// Whether the first lines decide about `quote`: `'` if it encloses each field of the first row. With `escape` and
  /// tabs, nothing quotes.
  bool finds_quote = false;
  /// The character that keeps the next one from having a meaning (EscapedFields). Without a value, a doubled quote is one.
  std::optional<char> escape{};
  /// A field that is this text is absent, as an empty one is.
  std::optional<std::string> null_text{};
  /// A line that begins with this text between rows is skipped. Empty: no line is.
  std::string comment{};
  /// The names of the columns, if the file has no header row.
  std::vector<std::string> columns{};
  /// Whether a row may end early. The fields that it lacks are absent.
  bool allows_short_rows = false;
  /// Whether values have inferred types. Without, they are texts.
  bool infers = true;
};

/// Parses a delimiter: a character, or `tab`, `comma`, `semicolon`, `pipe` or `space`. Errors: kInvalidArgument.
Result<char> parse_delimiter(std::string_view word);

/// Returns the quote that the first row of a file shows, for a dialect that finds it. `delimiter` has no value if it is
/// to be found too.
std::optional<char> quote_of(std::string_view text, const CsvDialect& dialect);

/// Columns that a comment names.
struct CommentedHeader {
  char delimiter = ',';
  std::vector<std::string> columns;
};

/// Returns the last comment before the first row, if it has all key columns of `shape`.
std::optional<CommentedHeader> commented_header(std::string_view text, const CsvDialect& dialect,
                                                const RowShape& shape);

/// Returns the delimiter that the first lines of a file show: a comma, a semicolon, a tab or `|`. It prefers one by
/// which the header has all key columns of `shape`.
char delimiter_of(std::string_view text, const CsvDialect& dialect, const RowShape& shape);

}  // namespace varve::tool
