#include "tools/varve/query/property_hint.h"

#include <algorithm>
#include <array>
#include <optional>
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

/// A property that a filter names.
struct Named {
  std::string name;
  /// The literal after `NAME eq`, `gt` or `ge`. Empty if none follows.
  std::string_view literal;
};

std::string_view without_spaces(std::string_view text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

/// Returns the word after an operator that needs a value of the literal's type.
std::string_view compared_literal(std::string_view rest) noexcept {
  rest = without_spaces(rest);
  const std::string_view compare = rest.substr(0, 2);
  if (compare != "eq" && compare != "gt" && compare != "ge") return {};
  rest = rest.substr(compare.size());
  if (!rest.empty() && is_name(rest.front())) return {};
  rest = without_spaces(rest);
  const std::size_t quote = rest.find('\'');
  const std::size_t end = std::min(rest.find_first_of(" \t\r\n()"), rest.size());
  if (quote >= end) return rest.substr(0, end);
  return rest.substr(0, std::min(rest.find('\'', quote + 1), rest.size() - 1) + 1);
}

/// Returns the properties that a valid filter names.
std::vector<Named> names_in(std::string_view filter) {
  std::vector<Named> names;
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
    if (!is_other) names.push_back({std::string(word), compared_literal(filter.substr(at))});
  }
  return names;
}

/// Returns the type of a literal of a valid filter, or nothing for another word.
std::optional<PropertyType> type_of_literal(std::string_view literal) noexcept {
  if (literal.empty()) return std::nullopt;
  if (literal.back() == '\'') {
    if (literal.front() == '\'') return PropertyType::kString;
    if (literal.front() == 'd') return PropertyType::kDateTime;
    return literal.front() == 'g' ? PropertyType::kGuid : PropertyType::kBinary;
  }
  if (literal == "true" || literal == "false") return PropertyType::kBoolean;
  if (literal == "NaN" || literal == "INF" || literal == "-INF") return PropertyType::kDouble;
  if (std::string_view("-0123456789").find(literal.front()) == std::string_view::npos) return std::nullopt;
  if (literal.back() == 'L' || literal.back() == 'l') return PropertyType::kInt64;
  return literal.find_first_of(".eEdD") == std::string_view::npos ? PropertyType::kInt32 : PropertyType::kDouble;
}

/// Returns whether a filter compares values of the type with literals of the other one. Otherwise the value counts as less.
bool compares(PropertyType stored, PropertyType literal) noexcept {
  const bool is_integer = literal == PropertyType::kInt32 || literal == PropertyType::kInt64;
  return stored == literal || (stored == PropertyType::kDouble && is_integer) ||
         (stored == PropertyType::kInt64 && literal == PropertyType::kInt32);
}

std::string_view example_of(PropertyType type) noexcept {
  switch (type) {
    case PropertyType::kBinary: return "X'00ff'";
    case PropertyType::kBoolean: return "true";
    case PropertyType::kDateTime: return "datetime'2026-01-31T00:00:00Z'";
    case PropertyType::kDouble: return "5.0";
    case PropertyType::kGuid: return "guid'00000000-0000-0000-0000-000000000000'";
    case PropertyType::kInt32: return "5";
    case PropertyType::kInt64: return "5L";
    case PropertyType::kString:
    case PropertyType::kLargeValue: break;
  }
  return "'text'";
}

/// Returns a hint if no value of the property compares with the literal. Empty otherwise, and if there is no value.
std::string type_hint(const Named& named, const std::vector<Entity>& entities) {
  const std::optional<PropertyType> literal = type_of_literal(named.literal);
  if (!literal) return "";
  std::optional<PropertyType> stored;
  for (const Entity& entity : entities) {
    const Value* const value = entity.find(named.name);
    if (value == nullptr) continue;
    if (compares(value->type(), *literal)) return "";
    stored = value->type();
  }
  if (!stored || *stored == PropertyType::kLargeValue) return "";
  const std::string type(property_type_name(*stored));
  return "`" + named.name + "` is " + type + " in the entities that were looked at. No " + type +
         " equals or exceeds the " + std::string(property_type_name(*literal)) + " `" + std::string(named.literal) +
         "`; write a literal such as `" + std::string(example_of(*stored)) + "`";
}

}  // namespace

std::string property_hint(const TableAccess& table, const std::string& filter, const ReadOptions& options) {
  const std::vector<Named> wanted = names_in(filter);
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
  for (const Named& named : wanted) {
    const std::string& name = named.name;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string who = page->continuation ? "none of the first " + with_commas(page->entities.size()) + " entities"
                                               : std::string("no entity of the table");
    const std::string nearest = nearest_name(name, known);
    return who + " has a property `" + name + "`" + (nearest.empty() ? "" : "; did you mean `" + nearest + "`?");
  }
  for (const Named& named : wanted) {
    if (std::string hint = type_hint(named, page->entities); !hint.empty()) return hint;
  }
  return "";
}

}  // namespace varve::tool
