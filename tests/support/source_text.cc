// Owns: the reader of C++ source text (source_text.h).
#include "tests/support/source_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace varve::test {
namespace {

bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool in_word(char c) {
  return starts_word(c) || is_digit(c);
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  SourceTokens run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (is_space(c)) {
      skip(1);
    } else if (rest().starts_with("//")) {
      skip(std::min(rest().find('\n'), rest().size()));
    } else if (rest().starts_with("/*")) {
      skip_past("*/", 2);
    } else if (rest().starts_with("R\"")) {
      raw_string();
    } else if (c == '"' || c == '\'') {
      literal(c);
    } else if (starts_word(c)) {
      word();
    } else if (is_digit(c)) {
      number();
    } else if (c == '#') {
      directive();
    } else {
      const std::size_t size = rest().starts_with("::") || rest().starts_with("->") ? 2 : 1;
      emit(rest().substr(0, size));
      skip(size);
    }
  }

  std::string_view rest() const { return text_.substr(at_); }

  void emit(std::string_view token) { out_.tokens.push_back({std::string(token), line_}); }

  void skip(std::size_t size) {
    for (; size > 0 && at_ < text_.size(); --size) {
      if (text_[at_++] == '\n') ++line_;
    }
  }

  void skip_past(std::string_view end, std::size_t from) {
    const std::size_t found = rest().find(end, from);
    skip(found == std::string_view::npos ? rest().size() : found + end.size());
  }

  void literal(char quote) {
    emit("\"\"");
    std::size_t size = 1;
    while (size < rest().size() && rest()[size] != quote) size += rest()[size] == '\\' ? std::size_t{2} : 1;
    skip(size + 1);
  }

  void raw_string() {
    emit("\"\"");
    const std::size_t open = rest().find('(');
    if (open == std::string_view::npos) return skip(rest().size());
    skip_past(")" + std::string(rest().substr(2, open - 2)) + "\"", open);
  }

  void word() {
    std::size_t size = 1;
    while (size < rest().size() && in_word(rest()[size])) ++size;
    emit(rest().substr(0, size));
    skip(size);
  }

  void number() {  // 10'000 is one number; the quote does not start a character.
    std::size_t size = 1;
    while (size < rest().size() && (in_word(rest()[size]) || rest()[size] == '\'' || rest()[size] == '.')) ++size;
    emit(rest().substr(0, size));
    skip(size);
  }

  // Reads a directive. Only includes are parsed. The definitions in other directives are read as ordinary tokens.
  void directive() {
    skip(1);
    while (!rest().empty() && (rest().front() == ' ' || rest().front() == '\t')) skip(1);
    if (!rest().starts_with("include")) return;
    const std::string_view line = rest().substr(0, rest().find('\n'));
    const std::size_t open = line.find_first_of("<\"");
    if (open == std::string_view::npos) return;
    const bool angled = line[open] == '<';
    const std::size_t close = line.find(angled ? '>' : '"', open + 1);
    if (close == std::string_view::npos) return;
    out_.includes.push_back({std::string(line.substr(open + 1, close - open - 1)), angled, line_});
    skip(close + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  SourceTokens out_;
};

}  // namespace

SourceTokens tokenize(std::string_view text) {
  return Lexer(text).run();
}

std::string_view head_comment(std::string_view text) {
  std::size_t end = 0;
  while (text.substr(end).starts_with("//")) {
    const std::size_t newline = text.find('\n', end);
    if (newline == std::string_view::npos) return text;
    end = newline + 1;
  }
  return text.substr(0, end);
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "." : path.substr(0, slash));
}

std::vector<SourceFile> read_sources(const std::string& root, std::string_view directory,
                                     const std::vector<std::string>& endings) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> files;
  const fs::path top = fs::path(root) / directory;
  if (!fs::exists(top)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
    const std::string name = entry.path().string();
    const bool wanted = std::any_of(endings.begin(), endings.end(),
                                    [&name](const std::string& ending) { return name.ends_with(ending); });
    if (!entry.is_regular_file() || !wanted) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    files.push_back({entry.path().lexically_relative(root).generic_string(), std::move(text)});
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace varve::test
