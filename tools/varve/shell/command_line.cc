// Owns: parsing the words of a line (command_line.h).
// Must never: check a filter. The store checks it.
#include "tools/varve/shell/command_line.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "varve/query_options.h"

namespace varve::tool {

Result<std::vector<LineWord>> split_line(std::string_view line) {
  std::vector<LineWord> words;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t' || c == '\r') {
      in_word = false;
      continue;
    }
    if (!in_word) words.push_back({{}, i});
    in_word = true;
    if (c != '\'' && c != '"') {
      words.back().text.push_back(c);
      continue;
    }
    for (++i;; ++i) {
      if (i == line.size()) return Status::invalid_argument("a quote is not closed");
      if (line[i] != c) {
        words.back().text.push_back(line[i]);
      } else if (i + 1 < line.size() && line[i + 1] == c) {
        words.back().text.push_back(line[i++]);
      } else {
        break;
      }
    }
  }
  return words;
}

Result<AskedQuery> parse_query_line(std::string_view line, const std::vector<LineWord>& words) {
  AskedQuery asked;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word == "--backward") {
      asked.backward = true;
    } else if (word == "--select" && i + 1 < words.size()) {
      Result<std::vector<std::string>> select = parse_select(words[++i].text);
      if (!select.ok()) return select.status();
      asked.select = *std::move(select);
    } else if (word == "--top" && i + 1 < words.size()) {
      const std::string& text = words[++i].text;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), asked.top);
      if (error != std::errc() || end != text.data() + text.size() || asked.top == 0) {
        return Status::invalid_argument("--top must be a whole number above zero");
      }
    } else if (word.starts_with("--")) {
      return Status::invalid_argument(
          word + " is not an option of query, or lacks its value; use --select A,B, --top N or --backward");
    } else {
      asked.filter = line.substr(words[i].begin);
      break;
    }
  }
  return asked;
}

}  // namespace varve::tool
