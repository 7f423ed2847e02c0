// Owns: the habits of other languages, and their words in a `$filter` (filter_hint.h).
// Must never: be needed to parse a valid filter.
#include "api/filter/filter_hint.h"

#include <algorithm>
#include <array>
#include <span>

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

constexpr std::string_view kContains = "for texts that contain 'ab' write `contains(NAME, 'ab')`";
constexpr std::string_view kIgnoringCase = "to ignore the letter case write `equals_ignoring_case(NAME, 'ab')`";
/// The hint for functions that the grammar of the table service lacks.
constexpr std::string_view kInsideText =
    "the table service cannot look inside a text. For texts that begin with 'ab' write `NAME ge 'ab' and NAME lt "
    "'ac'`; "
    "search other parts in what the query returns";

constexpr std::array<Habit, 16> kWords = {{
    {"like", kContains},
    {"substringof", kContains},
    {"indexof", kContains},
    {"matches", kContains},
    {"tolower", kIgnoringCase},
    {"toupper", kIgnoringCase},
    {"contains", kInsideText},
    {"endswith", kInsideText},
    {"startswith", "for texts that begin with 'ab' write `NAME ge 'ab' and NAME lt 'ac'`"},
    {"equals_ignoring_case", "the table service compares texts as they are; store a copy in lower case as a property"},
    {"in", "write one comparison for each value: `NAME eq 1 or NAME eq 2`"},
    {"not", "write `not (NAME eq 1)`, with `not` before the whole condition"},
    {"between", "write both bounds: `NAME ge 1 and NAME le 2`"},
    {"is", "a property without a value is absent: write `not exists(NAME)`"},
    {"equals", "write `eq` instead of `equals`"},
    {"null", "a property without a value is absent; entities that lack A are `not exists(A)`"},
}};

/// In another letter case, these words are not known.
constexpr std::array<Habit, 6> kLowerForms = {{
    {"startswith", "write `startswith(NAME, 'ab')` in lower case"},
    {"endswith", "write `endswith(NAME, 'ab')` in lower case"},
    {"contains", "write `contains(NAME, 'ab')` in lower case"},
    {"equals_ignoring_case", "write `equals_ignoring_case(NAME, 'ab')` in lower case"},
    {"exists", "write `exists(NAME)` in lower case"},
    {"in", "write `NAME in (1, 2)` in lower case"},
}};

std::string found_in(std::span<const Habit> habits, std::string_view word) {
  const auto known =
      std::find_if(habits.begin(), habits.end(), [&](const Habit& habit) { return habit.found == word; });
  return known == habits.end() ? std::string() : std::string(known->instead);
}

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
  if (lower != word) {
    if (std::string known = found_in(kLowerForms, lower); !known.empty()) return known;
  }
  return found_in(kWords, lower);
}

}  // namespace

std::string filter_hint(std::string_view filter, std::size_t offset) {
  const std::string_view rest = filter.substr(std::min(offset, filter.size()));
  if (lower_of(rest.substr(0, 4)) == "-inf") return "write `-INF` for negative infinity";
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
