#include "tools/varve/import/import_texts.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fnmatch.h>

#include "tools/varve/input/archive.h"

namespace varve::tool {

namespace {

constexpr std::array<std::string_view, 5> kCsvEndings = {"csv", "tsv", "tab", "psv", "txt"};

/// Returns whether the first line is a whole JSON object.
bool is_object_on_a_line(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line.ends_with('}');
}

/// Returns the format that a text shows, or an empty text.
std::string shown_format(const std::string& ending, std::string_view text) {
  if (ending == "jsonl" || ending == "ndjson") return "jsonl";
  if (std::find(kCsvEndings.begin(), kCsvEndings.end(), ending) != kCsvEndings.end()) return "csv";
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const char c = first == std::string_view::npos ? '\0' : text[first];
  if (c == '{') return is_object_on_a_line(text.substr(first)) ? "jsonl" : "json";
  if (c == '[') return "json";
  return ending == "json" || ending == "geojson" ? "jsonl" : "";
}

struct UnreadFormat {
  std::string_view begin;
  std::string_view name;
  std::string_view remedy;
};

constexpr std::string_view kConvert = "convert it to CSV or JSON";
constexpr std::string_view kUnpack = "unpack it, and give its files";

constexpr std::array<UnreadFormat, 15> kUnreadFormats{{
    {"<?xml", "XML", kConvert},
    {"<!DOCTYPE", "XML or HTML", kConvert},
    {"<html", "HTML", kConvert},
    {"%PDF-", "PDF", kConvert},
    {"SQLite format 3", "a database of SQLite", "write it with `sqlite3 -csv -header FILE 'select * from TABLE'`"},
    {"PAR1", "Parquet", kConvert},
    {"ARROW1", "Arrow", kConvert},
    {"Obj\x01", "Avro", kConvert},
    {"\xD0\xCF\x11\xE0", "a workbook of Excel 97", "save its sheets as CSV"},
    {"7z\xBC\xAF\x27\x1C", "a 7z archive", kUnpack},
    {"Rar!\x1A", "a RAR archive", kUnpack},
    {"\x04\x22\x4D\x18", "packed by lz4", kUnpack},
    {"\x1F\x9D", "packed by compress", kUnpack},
    {"\x7F"
     "ELF",
     "a program", "give a text"},
    {"\x89PNG", "a picture", "give a text"},
}};

/// Returns an error if a text is of a format that is known and not read.
Status check_is_read(std::string_view text) {
  std::string_view begin = text.substr(0, 64);
  begin.remove_prefix(std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));
  for (const UnreadFormat& format : kUnreadFormats) {
    if (!begin.starts_with(format.begin)) continue;
    return Status::unsupported("the file is " + std::string(format.name) + ", which import does not read; " +
                               std::string(format.remedy));
  }
  return Status();
}

/// Returns an error if an archive's member shows that the archive is a workbook.
Status check_is_no_workbook(const InputText& text) {
  if (!text.is_member || (text.member != "[Content_Types].xml" && text.member != "mimetype")) return Status();
  return Status::unsupported(
      "the file is a workbook or a document, which import does not read; save its sheets as CSV");
}

}  // namespace

std::uint64_t ImportTexts::total_bytes() const {
  std::uint64_t total = 0;
  for (const std::string& file : files_) {
    std::error_code failed;
    const std::uintmax_t bytes = std::filesystem::file_size(file, failed);
    if (failed) return 0;
    total += bytes;
  }
  return total;
}

Result<std::optional<InputText>> ImportTexts::next_text() {
  for (;;) {
    if (!texts_) {
      if (next_file_ == files_.size()) return std::optional<InputText>();
      Result<InputTexts> opened = InputTexts::open(files_[next_file_++], rules_.encoding);
      if (!opened.ok()) return opened.status();
      texts_.emplace(*std::move(opened));
      texts_of_file_ = 0;
    }
    Result<std::optional<InputText>> text = texts_->next();
    if (!text.ok() || text->has_value()) return text;
    if (stop_signal_seen() != 0) return text;
    bytes_before_ += texts_->total_bytes();
    texts_.reset();
  }
}

Result<std::unique_ptr<RowSource>> ImportTexts::rows_of(Lines& lines, const std::string& format,
                                                        const std::string& file_name) const {
  RowShape shape = rules_.shape;
  shape.file = file_name;
  if (format == "csv") return make_csv_source(lines, std::move(shape), rules_.dialect);
  if (format == "json") return make_json_source(lines, std::move(shape), rules_.records);
  return make_jsonl_source(lines, std::move(shape));
}

Result<std::optional<OpenText>> ImportTexts::open(InputText text) {
  OpenText opened{text.name, std::make_unique<Lines>(std::move(text.bytes)), nullptr};
  std::string format = rules_.format;
  if (format.empty()) {
    Status checked = check_is_no_workbook(text);
    if (checked.ok() && !text.is_member) checked = check_is_read(opened.lines->peek());
    if (!checked.ok()) return checked.in_file(text.name);
  }
  if (format.empty() && rules_.records) format = "json";
  if (format.empty()) format = shown_format(text.ending, opened.lines->peek());
  was_packed_ = text.is_member && is_packed(opened.lines->peek());
  if (text.is_member && (format.empty() || was_packed_)) return std::optional<OpenText>();
  if (format.empty()) {
    return Status::unsupported("the name of FILE does not show its format; give --format csv, jsonl or json")
        .in_file(text.name);
  }
  Result<std::unique_ptr<RowSource>> rows = rows_of(*opened.lines, format, text.file_name);
  if (opened.lines->end() == InputEnd::kError) return opened.lines->status();
  if (!rows.ok()) return rows.status().in_file(text.name);
  opened.rows = *std::move(rows);
  return std::optional(std::move(opened));
}

Result<std::optional<OpenText>> ImportTexts::next() {
  for (;;) {
    Result<std::optional<InputText>> text = next_text();
    if (!text.ok()) return text.status();
    std::optional<InputText>& found = *text;
    if (!found) return std::optional<OpenText>();
    const std::string name = found->name;
    const bool is_wanted =
        rules_.member.empty() || !found->is_member || ::fnmatch(rules_.member.c_str(), found->member.c_str(), 0) == 0;
    if (!is_wanted) continue;
    ++texts_of_file_;
    Result<std::optional<OpenText>> opened = open(*std::move(found));
    if (!opened.ok() || opened->has_value()) return opened;
    left_out_.push_back({name, was_packed_});
  }
}

Status check_files(const ImportRules& rules, const std::vector<std::string>& files) {
  if (files.size() < 2) return Status();
  for (const std::string& file : files) {
    std::error_code none;
    if (file == "-" || !std::filesystem::is_regular_file(file, none)) continue;
    ImportTexts texts(rules, {file});
    const Result<std::optional<OpenText>> first = texts.next();
    if (!first.ok()) return first.status();
  }
  return Status();
}

}  // namespace varve::tool
