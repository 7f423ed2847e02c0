#include "tools/varve/rows/csv_records.h"

#include <iterator>
#include <utility>

namespace varve::tool {

CsvRecords::CsvRecords(Lines& lines, char delimiter, const CsvDialect& dialect)
    : lines_(lines), delimiter_(delimiter), quote_(dialect.quote), comment_(dialect.comment) {
  if (dialect.escape) escaped_.emplace(delimiter, quote_, *dialect.escape);
  begin_parser();
}

CsvRecords::~CsvRecords() {
  ::csv_free(&parser_);
}

std::optional<CsvRecord> CsvRecords::next() {
  while (ready_.empty()) {
    if (!read_line()) return std::nullopt;
  }
  CsvRecord record = std::move(ready_.front());
  ready_.pop_front();
  return record;
}

void CsvRecords::begin_parser() {
  // Strict: a quote inside an unquoted field, or text after a closing quote, is a fault. The parser does not guess.
  ::csv_init(&parser_, CSV_STRICT);
  ::csv_set_delim(&parser_, static_cast<unsigned char>(delimiter_));
  // A line with a zero byte is refused before, so that this never quotes.
  ::csv_set_quote(&parser_, static_cast<unsigned char>(quote_.value_or('\0')));
  // Only a line feed ends a record, so a record never ends within a line. The carriage return before it is blank
  // space.
  ::csv_set_space_func(&parser_, [](unsigned char c) { return c == ' ' || c == '\t' || c == '\r' ? 1 : 0; });
  ::csv_set_term_func(&parser_, [](unsigned char c) { return c == '\n' ? 1 : 0; });
}

std::optional<CsvRecords::Line> CsvRecords::take_line() {
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

/// Returns whether a line between records is none: a blank line or a comment.
bool CsvRecords::is_skipped(const std::string& text) const {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return true;
  // PostgreSQL ends its rows by such a line.
  if (escaped_ && (text == "\\.\n" || text == "\\.\r\n")) return true;
  return !comment_.empty() && text.starts_with(comment_);
}

/// Feeds a line to the parser. Returns false if a quote is where none may be.
bool CsvRecords::parse(const std::string& line) {
  if (!escaped_) return ::csv_parse(&parser_, line.data(), line.size(), &on_field, &on_record, this) == line.size();
  const EscapedFields::Fed fed = escaped_->feed(line, fields_);
  if (fed == EscapedFields::Fed::kRecord) on_record(0, this);
  return fed != EscapedFields::Fed::kFault;
}

bool CsvRecords::read_line() {
  std::optional<Line> line = take_line();
  if (!line) {
    if (under_way_.empty()) return false;
    // A record that a read error or a signal cut is not reported.
    if (lines_.end() != InputEnd::kEndOfFile) return false;
    give_fault(RowFault::kQuote, "a quote is opened but never closed; the lines after it were read as separate rows");
    return true;
  }
  if (under_way_.empty() && is_skipped(line->text)) return true;
  under_way_bytes_ += line->text.size();
  under_way_.push_back(*std::move(line));
  const Line& last = under_way_.back();
  if (last.too_long || under_way_bytes_ > kLineBytesMax) {
    give_fault(RowFault::kTooLong, "the row is longer than 16 MiB, the most that is allowed");
  } else if (!quote_ && !escaped_ && last.text.find('\0') != std::string::npos) {
    give_fault(RowFault::kQuote, "the row contains a zero byte");
  } else if (!parse(last.text)) {
    give_fault(RowFault::kQuote,
               "a quote is not allowed here; quote the whole field and double the quotes inside it, or give --quote; "
               "if \\ comes before a quote, give --escape '\\'");
  } else if (std::exchange(ended_, false)) {
    forget_record();
  }
  return true;
}

/// Reports the line on which the record began, and queues the following lines for another parse.
void CsvRecords::give_fault(RowFault kind, std::string_view reason) {
  const std::uint64_t line = under_way_.front().number;
  ready_.push_back({line, line, {}, Status::invalid_argument(reason), kind});
  under_way_.pop_front();
  again_.insert(again_.begin(), std::make_move_iterator(under_way_.begin()), std::make_move_iterator(under_way_.end()));
  forget_record();
  ended_ = false;
  if (escaped_) escaped_->reset();
  ::csv_free(&parser_);
  begin_parser();
}

void CsvRecords::forget_record() {
  under_way_.clear();
  under_way_bytes_ = 0;
  fields_.clear();
}

void CsvRecords::on_field(void* text, std::size_t size, void* self) {
  static_cast<CsvRecords*>(self)->fields_.emplace_back(static_cast<const char*>(text), size);
}

void CsvRecords::on_record(int, void* self) {
  auto& records = *static_cast<CsvRecords*>(self);
  records.ready_.push_back({records.under_way_.front().number, records.under_way_.back().number,
                            std::move(records.fields_), Status(), RowFault::kNone});
  records.fields_.clear();
  records.ended_ = true;
}

}  // namespace varve::tool
