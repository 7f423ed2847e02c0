#include <algorithm>
#include <deque>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <csv.h>

#include "tools/varve/row_source.h"
#include "tools/varve/value_text.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve::tool {

namespace {

struct CsvRecord {
  std::uint64_t line = 0;
  std::uint64_t last_line = 0;
  std::vector<std::string> fields;
  Status fault;  // why it is not a record
};

/// Feeds libcsv line by line, so that the first line of each record is known. The lines of the open record are kept. If
/// the record turns out to have no end, the lines after its first one are read again as records of their own.
class CsvRecords {
 public:
  explicit CsvRecords(Lines& lines) : lines_(lines) { begin_parser(); }
  const Lines& lines() const noexcept { return lines_; }
  ~CsvRecords() { csv_free(&parser_); }
  CsvRecords(const CsvRecords&) = delete;
  CsvRecords& operator=(const CsvRecords&) = delete;

  std::optional<CsvRecord> next() {
    while (ready_.empty()) {
      if (!read_line()) return std::nullopt;
    }
    CsvRecord record = std::move(ready_.front());
    ready_.pop_front();
    return record;
  }

 private:
  struct Line {
    std::uint64_t number = 0;
    std::string text;  // including its line feed
    bool too_long = false;
  };

  void begin_parser() {
    // Strict: a quote inside an unquoted field, or text after a closing quote, is a fault. The parser does not guess.
    csv_init(&parser_, CSV_STRICT);
    // Only a line feed ends a record, so a record never ends within a line. The carriage return before it is blank
    // space.
    csv_set_space_func(&parser_, [](unsigned char c) { return c == ' ' || c == '\t' || c == '\r' ? 1 : 0; });
    csv_set_term_func(&parser_, [](unsigned char c) { return c == '\n' ? 1 : 0; });
  }

  std::optional<Line> take_line() {
    if (!again_.empty()) {
      Line line = std::move(again_.front());
      again_.pop_front();
      return line;
    }
    Line line;
    if (!lines_.next(&line.text)) return std::nullopt;
    line.number = lines_.number();
    line.too_long = lines_.too_long();
    line.text += '\n';
    return line;
  }

  bool read_line() {
    std::optional<Line> line = take_line();
    if (!line) {
      if (under_way_.empty()) return false;
      // A record that a read error or a signal cut is not reported.
      if (lines_.end() != InputEnd::kEndOfFile) return false;
      give_fault("a quote is opened but never closed; the lines after it were read as separate rows");
      return true;
    }
    const bool blank = line->text.find_first_not_of(" \t\r\n") == std::string::npos;
    if (blank && under_way_.empty()) return true;
    under_way_bytes_ += line->text.size();
    under_way_.push_back(*std::move(line));
    const Line& last = under_way_.back();
    if (last.too_long || under_way_bytes_ > kLineBytesMax) {
      give_fault("the row is longer than 16 MiB, the most that is allowed");
    } else if (csv_parse(&parser_, last.text.data(), last.text.size(), &on_field, &on_record, this) !=
               last.text.size()) {
      give_fault("a quote is not allowed here; quote the whole field and double the quotes inside it");
    } else if (std::exchange(ended_, false)) {
      forget_record();
    }
    return true;
  }

  /// Reports the line on which the record began, and queues the following lines for another parse.
  void give_fault(std::string_view reason) {
    const std::uint64_t line = under_way_.front().number;
    ready_.push_back({line, line, {}, Status::invalid_argument(reason)});
    under_way_.pop_front();
    again_.insert(again_.begin(), std::make_move_iterator(under_way_.begin()),
                  std::make_move_iterator(under_way_.end()));
    forget_record();
    ended_ = false;
    csv_free(&parser_);
    begin_parser();
  }

  void forget_record() {
    under_way_.clear();
    under_way_bytes_ = 0;
    fields_.clear();
  }

  static void on_field(void* text, std::size_t size, void* self) {
    static_cast<CsvRecords*>(self)->fields_.emplace_back(static_cast<const char*>(text), size);
  }
  static void on_record(int, void* self) {
    auto& records = *static_cast<CsvRecords*>(self);
    records.ready_.push_back(
        {records.under_way_.front().number, records.under_way_.back().number, std::move(records.fields_), Status()});
    records.fields_.clear();
    records.ended_ = true;
  }

  Lines& lines_;
  csv_parser parser_{};
  std::deque<CsvRecord> ready_;
  std::deque<Line> again_;
  std::deque<Line> under_way_;
  std::size_t under_way_bytes_ = 0;
  std::vector<std::string> fields_;
  bool ended_ = false;
};

class CsvSource final : public RowSource {
 public:
  CsvSource(Lines& lines, RowShape shape, bool infer) : records_(lines), shape_(std::move(shape)), infer_(infer) {}

  Status read_header() {
    std::optional<CsvRecord> header = records_.next();
    if (records_.lines().end() == InputEnd::kError) return records_.lines().status();
    if (!header && records_.lines().end() == InputEnd::kSignal) return Status();
    if (!header) return Status::invalid_argument("the header row is missing");
    if (!header->fault.ok()) return header->fault.in_file("line " + std::to_string(header->line));
    columns_ = std::move(header->fields);
    if (Status found = find_column(shape_.partition_key, &partition_column_); !found.ok()) return found;
    if (Status found = find_column(shape_.row_key, &row_column_); !found.ok()) return found;
    const std::unordered_set<std::string_view> names(columns_.begin(), columns_.end());
    if (Status checked = check_columns(); !checked.ok()) return checked.in_file("the header");
    for (const auto& [name, type] : shape_.types) {
      if (!names.contains(name))
        return Status::invalid_argument("--type names \"" + name + "\", which is not a column of the header");
    }
    return Status();
  }

  std::optional<Row> next() override {
    std::optional<CsvRecord> record = records_.next();
    if (!record) return std::nullopt;
    const bool fits = !record->fault.ok() || record->fields.size() == columns_.size();
    return Row{record->line, record->last_line, entity_of(*record), fits ? 0 : record->fields.size() + 1};
  }

 private:
  Status find_column(const std::string& name, std::size_t* column) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) {
      return Status::invalid_argument("the header has no column \"" + name +
                                      "\"; name the key columns by --partition-key and --row-key");
    }
    *column = static_cast<std::size_t>(found - columns_.begin());
    return Status();
  }

  /// Checks the columns. A fault that concerns every row is reported once, before anything is imported.
  Status check_columns() const {
    std::unordered_set<std::string_view> before;
    std::size_t properties = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& name = columns_[i];
      if (name.empty()) continue;  // a final comma has no name; rows with a value there are refused
      if (!before.insert(name).second) return Status::invalid_argument("the column \"" + name + "\" is given twice");
      if (i == partition_column_ || i == row_column_ || name == "Timestamp") continue;
      if (++properties > limits::kCustomPropertiesMax) {
        return Status::too_large(std::to_string(columns_.size()) + " columns are given; an entity has at most " +
                                 std::to_string(limits::kCustomPropertiesMax) + " properties besides its keys");
      }
      if (Status checked = check_property_column(name); !checked.ok()) return checked;
    }
    return Status();
  }

  static Status check_property_column(const std::string& name) {
    if (name != "PartitionKey" && name != "RowKey") return check_property_name(name);
    return Status::invalid_argument("the column \"" + name +
                                    "\" cannot be a property when another column is the key; rename it");
  }

  Result<Entity> entity_of(const CsvRecord& record) const {
    if (!record.fault.ok()) return record.fault;
    if (record.fields.size() != columns_.size()) {
      return Status::invalid_argument(std::to_string(record.fields.size()) + " fields are given, but the header has " +
                                      std::to_string(columns_.size()));
    }
    Entity entity(record.fields[partition_column_], record.fields[row_column_]);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i == partition_column_ || i == row_column_ || record.fields[i].empty() || columns_[i] == "Timestamp")
        continue;
      Result<Value> value = value_of(columns_[i], record.fields[i]);
      if (!value.ok()) return value.status().in_file("\"" + columns_[i] + "\"");
      entity.add(columns_[i], *std::move(value));
    }
    return entity;
  }

  Result<Value> value_of(const std::string& column, const std::string& text) const {
    if (const auto chosen = shape_.types.find(column); chosen != shape_.types.end()) {
      return parse_value(chosen->second, text);
    }
    return infer_ ? infer_value(text) : Value(text);
  }

  CsvRecords records_;
  RowShape shape_;
  bool infer_;
  std::vector<std::string> columns_;
  std::size_t partition_column_ = 0;
  std::size_t row_column_ = 0;
};

}  // namespace

Result<std::unique_ptr<RowSource>> make_csv_source(Lines& lines, RowShape shape, bool infer) {
  auto source = std::make_unique<CsvSource>(lines, std::move(shape), infer);
  if (Status read = source->read_header(); !read.ok()) return read;
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace varve::tool
