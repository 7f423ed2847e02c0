#include "tools/varve/rows/csv_dialect.h"

#include <algorithm>
#include <array>

namespace varve::tool {

namespace {

constexpr std::array kCandidates = {',', ';', '\t', '|'};
constexpr std::size_t kLinesJudgedMax = 20;

/// Returns the fields of the first row, roughly: quotes are removed, and doubled quotes become nothing.
std::vector<std::string> fields_of(std::string_view row, char delimiter, std::optional<char> quote) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : row) {
    if (quote && c == *quote) {
      quoted = !quoted;
    } else if (c == delimiter && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) {
    field.erase(0, std::min(field.find_first_not_of(' '), field.size()));
    field.erase(field.find_last_not_of(' ') + 1);
  }
  return fields;
}

/// Returns the first rows of the text. The last one may be cut.
std::vector<std::string_view> rows_of(std::string_view text, const CsvDialect& dialect) {
  std::vector<std::string_view> rows;
  while (!text.empty() && rows.size() < kLinesJudgedMax) {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < text.size() && (quoted || text[end] != '\n'); ++end) {
      if (dialect.quote && text[end] == *dialect.quote) quoted = !quoted;
    }
    std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (!dialect.comment.empty() && row.starts_with(dialect.comment)) continue;
    rows.push_back(row);
  }
  return rows;
}

bool has_keys(const std::vector<std::string>& header, const RowShape& shape) {
  bool any = false;
  for (const KeyTemplate* key : {&shape.partition_key, &shape.row_key}) {
    for (const KeyPart& part : key->parts()) {
      if (part.kind != KeyPart::Kind::kColumn) continue;
      if (std::find(header.begin(), header.end(), part.text) == header.end()) return false;
      any = true;
    }
  }
  return any;
}

}  // namespace

Result<char> parse_delimiter(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, char>, 6> kNames{
      {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"\\t", '\t'}, {"pipe", '|'}, {"space", ' '}}};
  for (const auto& [name, delimiter] : kNames) {
    if (word == name) return delimiter;
  }
  const bool is_one = word.size() == 1 && word[0] != '\n' && word[0] != '\r' && word[0] != '\0' &&
                      static_cast<unsigned char>(word[0]) < 0x80;
  if (is_one) return word[0];
  return Status::invalid_argument("\"" + std::string(word) +
                                  "\" is no delimiter; use one character, or tab, comma, semicolon, pipe or space");
}

std::optional<char> quote_of(std::string_view text, const CsvDialect& dialect) {
  if (!dialect.finds_quote) return dialect.quote;
  if (dialect.escape && dialect.delimiter == '\t') return std::nullopt;
  CsvDialect single = dialect;
  single.quote = '\'';
  const std::vector<std::string_view> rows = rows_of(text, single);
  if (rows.empty() || !rows[0].starts_with('\'') || !rows[0].ends_with('\'') || rows[0].size() < 2) return '"';
  // Each quote is at an end of a field, or is doubled.
  const std::string_view row = rows[0].substr(1, rows[0].size() - 2);
  for (const char delimiter : kCandidates) {
    if (dialect.delimiter && delimiter != *dialect.delimiter) continue;
    const std::string between{'\'', delimiter, '\''};
    if (row.find(between) == std::string_view::npos) continue;
    std::size_t quotes = 0;
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (row.substr(at).starts_with(between)) {
        at += 2;
      } else if (row[at] == '\'') {
        ++quotes;
      }
    }
    if (quotes % 2 == 0) return '\'';
  }
  return '"';
}

std::optional<CommentedHeader> commented_header(std::string_view text, const CsvDialect& dialect,
                                                const RowShape& shape) {
  if (dialect.comment.empty() || !dialect.columns.empty()) return std::nullopt;
  std::optional<std::string_view> last;
  while (text.starts_with(dialect.comment) && text.find('\n') != std::string_view::npos) {
    last = text.substr(dialect.comment.size(), text.find('\n') - dialect.comment.size());
    text.remove_prefix(text.find('\n') + 1);
  }
  if (!last) return std::nullopt;
  if (last->ends_with('\r')) last->remove_suffix(1);
  for (const char candidate : kCandidates) {
    if (dialect.delimiter && candidate != *dialect.delimiter) continue;
    CommentedHeader header{candidate, fields_of(*last, candidate, dialect.quote)};
    if (header.columns.size() > 1 && has_keys(header.columns, shape)) return header;
  }
  return std::nullopt;
}

char delimiter_of(std::string_view text, const CsvDialect& dialect, const RowShape& shape) {
  const std::vector<std::string_view> rows = rows_of(text, dialect);
  if (rows.empty()) return ',';
  char best = ',';
  std::size_t most = 0;
  for (const char candidate : kCandidates) {
    const std::vector<std::string> header = fields_of(rows[0], candidate, dialect.quote);
    if (dialect.columns.empty() && has_keys(header, shape) && header.size() > 1) return candidate;
    if (dialect.columns.size() > 1 && header.size() == dialect.columns.size()) return candidate;
    if (header.size() < 2) continue;
    // Rows that agree with the first one count more than many fields in it.
    std::size_t score = header.size();
    for (const std::string_view row : rows) {
      if (fields_of(row, candidate, dialect.quote).size() == header.size()) score += 100;
    }
    if (score <= most) continue;
    most = score;
    best = candidate;
  }
  return best;
}

}  // namespace varve::tool
