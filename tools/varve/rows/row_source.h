// Owns: reading the rows of a text one after another, each with the line on which it began.
// Must never: stop at a bad row, or return a bad row without its error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/varve/input/lines.h"
#include "tools/varve/rows/csv_dialect.h"
#include "tools/varve/rows/row_shape.h"
#include "varve/types.h"

namespace varve::tool {

/// Why a row is refused. Rows that are refused for one reason can be reported together.
enum class RowFault : std::uint8_t {
  kNone,     // The row is accepted, or the table refuses it.
  kQuote,    // a quote is where none may be, or has no end
  kTooLong,  // more than kLineBytesMax
  kFields,   // the row has too few or too many fields
  kName,     // a value belongs to a column without a name
  kUtf8,     // the row is no UTF-8
  kSyntax,   // the row is no JSON object
  kKey,      // the row lacks a key, or its key is no text
  kNested,   // an object or array is a value
  kValue,    // a value does not have its type
};

struct Row {
  std::uint64_t line = 0;       // from 1
  std::uint64_t last_line = 0;  // the last line of the row
  Result<Entity> entity;
  /// The number of a fault in the file's shape, which other rows have too. 0: the fault concerns this row alone.
  std::uint64_t shape_fault = 0;
  RowFault fault = RowFault::kNone;
  /// The number of the row in its text, from 1, if other rows begin on the same line. Else 0.
  std::uint64_t row = 0;
  /// The properties that are Strings in `entity`, and shall be large values: each String is the name of a file with the
  /// content. Empty unless RowShape::takes_contents is set.
  std::vector<std::string> contents{};
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Returns the next whole row, or nothing at the end. lines.end() returns whether that was the end of the file.
  virtual std::optional<Row> next() = 0;
  /// Returns why the rest of the text cannot be read, after next() returned nothing. Ok at the end of the text.
  virtual Status fault() const { return Status(); }
};

/// Returns a source that reads one JSON object per line. Blank lines are skipped. `lines` must outlive the source.
std::unique_ptr<RowSource> make_jsonl_source(Lines& lines, RowShape shape);

/// Returns a source that reads JSON values of any layout. The rows are the elements of an array or the members of an
/// object: of the one at `records`, a name or a JSON pointer. Without `records`, they are the elements of a root that
/// is an array, and all other roots. `lines` must outlive the source. Errors: kInvalidArgument (`records`).
Result<std::unique_ptr<RowSource>> make_json_source(Lines& lines, RowShape shape,
                                                    const std::optional<std::string>& records);

/// Returns a source that reads RFC 4180 with a header row, or in another dialect. An empty field is an absent property.
/// Blank lines are skipped. If a quote is never closed, the following lines are read as rows of their own. If a signal
/// came before the header was read, lines.end() reports it. Errors: those of `lines`; kInvalidArgument:
/// - no header, a column twice, or no key column;
/// - a column that conflicts with the names of the keys;
/// - more columns than an entity can have properties.
Result<std::unique_ptr<RowSource>> make_csv_source(Lines& lines, RowShape shape, const CsvDialect& dialect);

}  // namespace varve::tool
