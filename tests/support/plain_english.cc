// Owns: the words and the grammar of find_hard_english() (plain_english.h).
#include "tests/support/plain_english.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve::test {
namespace {

constexpr std::size_t kSentenceWordsMax = 40;

constexpr std::array<std::string_view, 15> kWords = {"told",  "tell",    "tells",   "telling", "behind",
                                                     "stand", "stands",  "stood",   "whoever", "somebody",
                                                     "hence", "therein", "thereof", "nobody",  "whosoever"};
constexpr std::array<std::string_view, 5> kPairs = {"save that", "save for", "but for", "whose turn", "of late"};
constexpr std::array<std::string_view, 10> kVerbs = {"is",  "was",  "are",   "were", "has",
                                                     "had", "lies", "comes", "goes", "stands"};
constexpr std::array<std::string_view, 3> kArticles = {"the", "a", "an"};
constexpr std::array<std::string_view, 4> kOpenings = {"Of", "Missed", "Who", "Whoever"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    if (!is_letter(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && (is_letter(line[end]) || line[end] == '_')) ++end;
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

/// Returns why the words of a line are hard to read, or an empty text if they are not.
std::string hard_words(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (!words.empty() && contains(kOpenings, words.front())) {
    return "begins with \"" + std::string(words.front()) + "\"; name the subject first";
  }
  std::vector<std::string> small;
  for (const std::string_view word : words) small.push_back(lower(word));
  for (std::size_t i = 0; i < small.size(); ++i) {
    if (contains(kWords, small[i])) return "says \"" + small[i] + "\"; use the field's word";
    if (i + 1 == small.size()) break;
    const std::string pair = small[i] + " " + small[i + 1];
    if (contains(kPairs, pair)) return "says \"" + pair + "\"; say it with fewer turns";
    const bool is_clause = (small[i] == "what" || small[i] == "who") && contains(kVerbs, small[i + 1]) &&
                           i + 2 < small.size() && !contains(kArticles, small[i + 2]);
    if (is_clause) return "has the clause \"" + pair + "\"; use a noun";
  }
  return "";
}

/// Returns the text of a line that a person reads, and nothing for code.
class Prose {
 public:
  explicit Prose(std::string_view path) : is_document_(path.ends_with(".md")), is_script_(path.ends_with(".py")) {}

  std::optional<std::string_view> of(std::string_view line) {
    if (is_document_) return of_document(line);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return std::nullopt;
    line.remove_prefix(begin);
    if (is_script_) {
      if (!line.starts_with('#') || line.starts_with("#!")) return std::nullopt;
      return line.substr(1);
    }
    if (!line.starts_with("//")) return std::nullopt;
    line.remove_prefix(line.starts_with("///") ? 3 : 2);
    return line;
  }

 private:
  std::optional<std::string_view> of_document(std::string_view line) {
    if (line.starts_with("```")) {
      in_code_ = !in_code_;
      return std::nullopt;
    }
    if (in_code_) return std::nullopt;
    return line;
  }

  const bool is_document_;
  const bool is_script_;
  bool in_code_ = false;
};

/// Counts the words of a sentence across lines.
class SentenceLength {
 public:
  /// Returns whether a sentence that ends in this line has too many words.
  bool add(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    const bool ends_paragraph = begin == std::string_view::npos || line.find('|') != std::string_view::npos;
    if (ends_paragraph || line[begin] == '#' || line[begin] == '-' ||
        std::isdigit(static_cast<unsigned char>(line[begin]))) {
      words_ = 0;
      if (ends_paragraph) return false;
    }
    bool is_long = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      const bool begins_word = line[at] != ' ' && (at == 0 || line[at - 1] == ' ');
      if (begins_word) ++words_;
      const bool ends = (line[at] == '.' || line[at] == ':' || line[at] == '?' || line[at] == ';') &&
                        (at + 1 == line.size() || line[at + 1] == ' ');
      if (!ends) continue;
      is_long |= words_ > kSentenceWordsMax;
      words_ = 0;
    }
    return is_long;
  }
  void end_paragraph() { words_ = 0; }

 private:
  std::size_t words_ = 0;
};

}  // namespace

Offences find_hard_english(const SourceFile& file) {
  Offences offences;
  Prose prose(file.path);
  SentenceLength sentence;
  std::size_t number = 0;
  for (std::size_t at = 0; at < file.text.size();) {
    ++number;
    std::size_t end = file.text.find('\n', at);
    if (end == std::string::npos) end = file.text.size();
    const std::optional<std::string_view> read = prose.of(std::string_view(file.text).substr(at, end - at));
    at = end + 1;
    if (!read) {
      sentence.end_paragraph();
      continue;
    }
    const bool is_long = sentence.add(*read);
    std::string why = hard_words(*read);
    if (why.empty() && is_long) why = "ends a sentence of more than 40 words; split it";
    if (!why.empty()) offences.push_back({file.path, number, std::move(why)});
  }
  return offences;
}

}  // namespace varve::test
