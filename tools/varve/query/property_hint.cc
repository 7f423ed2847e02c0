#include "tools/varve/query/property_hint.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tools/varve/rows/names.h"
#include "tools/varve/terminal/progress.h"

namespace varve::tool {

namespace {

constexpr std::array<std::string_view, 16> kOwnWords = {"eq",           "ne",     "gt",        "ge",   "lt",  "le",
                                                        "and",          "or",     "not",       "true", "NaN", "INF",
                                                        "PartitionKey", "RowKey", "Timestamp", "false"};

bool is_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Returns whether a parenthesis opens after `at`. In a valid filter, the word before it is a function or `in`.
bool is_before_open(std::string_view filter, std::size_t at) noexcept {
  at = filter.find_first_not_of(" \t\r\n", at);
  return at != std::string_view::npos && filter[at] == '(';
}

/// Returns the properties that a valid filter names.
std::vector<std::string> names_in(std::string_view filter) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < filter.size();) {
    if (filter[at] == '\'') {  // two quotes in a text are one text after another
      at = std::min(filter.find('\'', at + 1), filter.size() - 1) + 1;
      continue;
    }
    const std::size_t begin = at;
    while (at < filter.size() && is_name(filter[at])) ++at;
    const std::string_view word = filter.substr(begin, at - begin);
    if (word.empty()) {
      ++at;
      continue;
    }
    const bool is_keyword = std::find(kOwnWords.begin(), kOwnWords.end(), word) != kOwnWords.end();
    const bool is_typed_literal = at < filter.size() && filter[at] == '\'';
    const bool is_number = word.front() >= '0' && word.front() <= '9';
    const bool follows_sign = begin > 0 && std::string_view("-.+").find(filter[begin - 1]) != std::string_view::npos;
    const bool is_other = is_keyword || is_typed_literal || is_number || follows_sign || is_before_open(filter, at);
    if (!is_other) names.emplace_back(word);
  }
  return names;
}

}  // namespace

std::string property_hint(const TableAccess& table, const std::string& filter, const ReadOptions& options) {
  const std::vector<std::string> wanted = names_in(filter);
  if (wanted.empty()) return "";
  Scan scan;
  scan.range = ScanRange::whole_table();
  scan.read = options;
  scan.read.select.clear();
  const Result<Page> page = table.scan(scan);
  if (!page.ok() || page->entities.empty()) return "";
  std::vector<std::string> known;
  for (const Entity& entity : page->entities) {
    for (const Property& property : entity.properties()) {
      if (std::find(known.begin(), known.end(), property.name) == known.end()) known.push_back(property.name);
    }
  }
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string who = page->continuation ? "none of the first " + with_commas(page->entities.size()) + " entities"
                                               : std::string("no entity of the table");
    const std::string nearest = nearest_name(name, known);
    return who + " has a property `" + name + "`" + (nearest.empty() ? "" : "; did you mean `" + nearest + "`?");
  }
  return "";
}

}  // namespace varve::tool
