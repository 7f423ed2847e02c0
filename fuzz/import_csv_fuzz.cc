// Owns: the fuzzer of files with columns: dialects, records and rows.
// Must never: let rows depend on how the bytes arrive, or let a row end before the line on which it begins.
//
// Input: a byte that chooses options, then the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "fuzz/memory_input.h"
#include "tools/varve/rows/row_source.h"
#include "tools/varve/text/value_text.h"

namespace varve {
namespace {

using tool::CsvDialect;
using tool::RowShape;

/// Returns keys and properties. They may be no UTF-8; the table refuses that later.
std::string text_of(const Entity& entity) {
  std::string text = entity.partition_key() + "|" + entity.row_key();
  for (const Property& property : entity.properties())
    text += "|" + property.name + "=" + tool::to_text(property.value);
  return text;
}

/// Returns every row as a line.
std::string rows_of(std::string_view file, std::size_t piece, const RowShape& shape, const CsvDialect& dialect) {
  tool::Lines lines(std::make_unique<fuzz::MemoryInput>(file, piece));
  const Result<std::unique_ptr<tool::RowSource>> source = tool::make_csv_source(lines, shape, dialect);
  if (!source.ok()) return source.status().to_string();
  tool::RowSource& rows = **source;
  std::string text;
  std::uint64_t line = 0;
  while (const std::optional<tool::Row> row = rows.next()) {
    if (row->line < line || row->last_line < row->line) std::abort();
    line = row->line;
    text += std::to_string(row->line) + "-" + std::to_string(row->last_line) + ": ";
    text += row->entity.ok() ? text_of(*row->entity) : row->entity.status().to_string();
    text += "\n";
  }
  if (lines.end() != tool::InputEnd::kEndOfFile) std::abort();
  return text;
}

void check(std::uint8_t choice, std::string_view file) {
  RowShape shape;
  CsvDialect dialect;
  if ((choice & 1) != 0) dialect.columns = {"PartitionKey", "RowKey", "a"};
  if ((choice & 2) != 0) dialect.quote.reset();
  if ((choice & 4) != 0) dialect.comment = "#";
  if ((choice & 8) != 0) dialect.allows_short_rows = true;
  if ((choice & 16) != 0) shape.fixes_names = true;
  if ((choice & 32) != 0) shape.key_replacement = ":";
  if ((choice & 64) != 0) dialect.delimiter = ';';  // a sniffed delimiter may depend on how much was read
  if ((choice & 128) != 0) dialect.escape = '\\';
  if ((choice & 64) != 0 && rows_of(file, 1, shape, dialect) != rows_of(file, SIZE_MAX, shape, dialect)) std::abort();
  rows_of(file, 7, shape, dialect);
}

}  // namespace
}  // namespace varve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) varve::check(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
