// Owns: the habits of other languages, and their words in a `$filter` (filter_hint.h).
// Must never: be needed to parse a valid filter.
#include "api/filter/filter_hint.h"

#include <algorithm>
#include <array>

#include "api/model/ascii.h"

namespace varve {
namespace {

struct Habit {
  std::string_view found;
  std::string_view instead;
};

/// The longer of two symbols with the same beginning comes first.
constexpr std::array<Habit, 15> kSymbols = {{{"<=", "le"},
                                             {">=", "ge"},
                                             {"=<", "le"},
                                             {"=>", "ge"},
                                             {"<>", "ne"},
                                             {"!=", "ne"},
                                             {"==", "eq"},
                                             {"&&", "and"},
                                             {"||", "or"},
                                             {"<", "lt"},
                                             {">", "gt"},
                                             {"=", "eq"},
                                             {"!", "not"},
                                             {"&", "and"},
                                             {"|", "or"}}};

constexpr std::array<std::string_view, 11> kLowerWords = {"eq",  "ne", "gt",   "ge",    "lt", "le",
                                                          "and", "or", "true", "false", "not"};

constexpr std::string_view kInsideText =
    "a filter cannot look inside a text. For texts that begin with 'ab' write `NAME ge 'ab' and NAME lt 'ac'`; search "
    "other parts in what the query returns";

constexpr std::array<Habit, 14> kWords = {{
    {"like", kInsideText},
    {"contains", kInsideText},
    {"substringof", kInsideText},
    {"indexof", kInsideText},
    {"startswith", "for texts that begin with 'ab' write `NAME ge 'ab' and NAME lt 'ac'`"},
    {"endswith", kInsideText},
    {"matches", kInsideText},
    {"tolower", "a filter compares texts as they are; store a copy in lower case as a property of its own"},
    {"toupper", "a filter compares texts as they are; store a copy in upper case as a property of its own"},
    {"in", "write one comparison for each value: `NAME eq 1 or NAME eq 2`"},
    {"between", "write both bounds: `NAME ge 1 and NAME le 2`"},
    {"is", "a property without a value is absent, and compares as false; write `eq` for a comparison"},
    {"equals", "write `eq` instead of `equals`"},
    {"null", "a property without a value is absent; entities that lack A, or have another value, are `not (A eq 1)`"},
}};

bool is_word_character(char c) noexcept {
  return is_letter(c) || is_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

std::string lower_of(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string in_ticks(std::string_view text) {
  return "`" + std::string(text) + "`";
}

std::string hint_for_word(std::string_view word) {
  const std::string lower = lower_of(word);
  if (lower != word && std::find(kLowerWords.begin(), kLowerWords.end(), lower) != kLowerWords.end())
    return "write " + in_ticks(lower) + " in lower case";
  const auto* const known =
      std::find_if(kWords.begin(), kWords.end(), [&](const Habit& habit) { return habit.found == lower; });
  return known == kWords.end() ? std::string() : std::string(known->instead);
}

}  // namespace

std::string filter_hint(std::string_view filter, std::size_t offset) {
  const std::string_view rest = filter.substr(std::min(offset, filter.size()));
  if (rest.starts_with('"')) return "put texts in single quotes: 'text'";
  for (const Habit& symbol : kSymbols) {
    if (rest.starts_with(symbol.found))
      return "write " + in_ticks(symbol.instead) + " instead of " + in_ticks(symbol.found) + ", between spaces";
  }
  std::size_t end = 0;
  while (end < rest.size() && is_word_character(rest[end])) ++end;
  return end == 0 ? std::string() : hint_for_word(rest.substr(0, end));
}

std::string literal_hint(std::string_view word) {
  if (const std::string known = hint_for_word(word); !known.empty()) return known;
  return "put a text in single quotes: '" + std::string(word) + "'";
}

}  // namespace varve
