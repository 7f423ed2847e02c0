// Owns: rows of a file, one after another, each with the line it began on.
// Must never: stop at a bad row, or give one without saying what is wrong with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tools/varve/entity_json.h"
#include "tools/varve/lines.h"
#include "varve/types.h"

namespace varve::tool {

struct Row {
  std::uint64_t line = 0;       // from 1
  std::uint64_t last_line = 0;  // where the row ends
  Result<Entity> entity;
  /// Not 0: what is wrong is the shape of the file, so that other rows have the same fault, which has this number.
  std::uint64_t shape_fault = 0;
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  /// The next whole row, or nothing at the end; lines.end() tells whether that was the end of the file.
  virtual std::optional<Row> next() = 0;
};

/// One JSON object a line; blank lines are skipped. `lines` must outlive the source.
std::unique_ptr<RowSource> make_jsonl_source(Lines& lines, RowShape shape);

/// RFC 4180 with a header row; an empty field is an absent property. Without `infer`, values are texts unless a type
/// was chosen. Blank lines are skipped. Where a quote is opened and never closed, the lines behind it are read as rows
/// of their own. Errors: kInvalidArgument (no header, a column twice, no key column, a column that the keys' names
/// forbid, more columns than an entity can have properties); those of `lines`. If a signal came before the header was
/// read, lines.end() tells.
Result<std::unique_ptr<RowSource>> make_csv_source(Lines& lines, RowShape shape, bool infer);

}  // namespace varve::tool
