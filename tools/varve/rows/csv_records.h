// Owns: the records of a file with columns, each with the line on which it began (libcsv).
// Must never: lose a line: if a record has no end, the lines after its first one are records of their own.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <csv.h>

#include "tools/varve/input/lines.h"
#include "tools/varve/rows/csv_dialect.h"
#include "tools/varve/rows/escaped_fields.h"
#include "tools/varve/rows/row_source.h"

namespace varve::tool {

struct CsvRecord {
  std::uint64_t line = 0;
  std::uint64_t last_line = 0;
  std::vector<std::string> fields;
  Status fault;  // why it is not a record
  RowFault fault_kind = RowFault::kNone;
};

/// Feeds libcsv line by line, so that the first line of each record is known. The lines of the open record are kept. If
/// the record turns out to have no end, the lines after its first one are read again as records of their own.
class CsvRecords {
 public:
  /// `lines` must outlive the object.
  CsvRecords(Lines& lines, char delimiter, const CsvDialect& dialect);
  ~CsvRecords();
  CsvRecords(const CsvRecords&) = delete;
  CsvRecords& operator=(const CsvRecords&) = delete;

  /// Returns the next record, or nothing at the end of the lines. A record that a signal or an error cut is left out.
  std::optional<CsvRecord> next();
  const Lines& lines() const noexcept { return lines_; }

 private:
  struct Line {
    std::uint64_t number = 0;
    std::string text;  // including its line feed
    bool too_long = false;
  };

  void begin_parser();
  std::optional<Line> take_line();
  bool is_skipped(const std::string& text) const;
  bool read_line();
  bool parse(const std::string& line);
  void give_fault(RowFault kind, std::string_view reason);
  void forget_record();
  static void on_field(void* text, std::size_t size, void* self);
  static void on_record(int, void* self);

  Lines& lines_;
  char delimiter_;
  std::optional<char> quote_;
  std::string comment_;
  std::optional<EscapedFields> escaped_;
  csv_parser parser_{};
  std::deque<CsvRecord> ready_;
  std::deque<Line> again_;
  std::deque<Line> under_way_;
  std::size_t under_way_bytes_ = 0;
  std::vector<std::string> fields_;
  bool ended_ = false;
};

}  // namespace varve::tool
