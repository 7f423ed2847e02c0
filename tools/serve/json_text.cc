#include "tools/serve/json_text.h"

#include <cstddef>
#include <cstring>

namespace varve::serve {
namespace {

/// Of a word of eight characters, looked at together.
constexpr std::uint64_t kEach = 0x0101010101010101;
constexpr std::uint64_t kHighBits = kEach * 0x80;

/// Whether one of them is below a space, a quote or a backslash. A byte that is subtracted from goes below zero where
/// it was smaller, which sets its highest bit; those that had it set are of other characters.
constexpr bool has_special(std::uint64_t word) noexcept {
  const std::uint64_t below_space = word - kEach * 0x20;
  const std::uint64_t is_quote = (word ^ kEach * '"') - kEach;
  const std::uint64_t is_backslash = (word ^ kEach * '\\') - kEach;
  return ((below_space | is_quote | is_backslash) & ~word & kHighBits) != 0;
}
constexpr bool is_special(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

/// How much from `begin` on needs no escape.
std::size_t plain_end(std::string_view text, std::size_t begin) noexcept {
  std::uint64_t word = 0;
  for (; text.size() - begin >= sizeof word; begin += sizeof word) {
    std::memcpy(&word, text.data() + begin, sizeof word);
    if (has_special(word)) break;
  }
  while (begin < text.size() && !is_special(text[begin])) ++begin;
  return begin;
}

void append_escaped(std::string& text, char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  switch (c) {
    case '"': text.append("\\\""); return;
    case '\\': text.append("\\\\"); return;
    case '\b': text.append("\\b"); return;
    case '\f': text.append("\\f"); return;
    case '\n': text.append("\\n"); return;
    case '\r': text.append("\\r"); return;
    case '\t': text.append("\\t"); return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  text.append("\\u00").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 0xF]);
}

}  // namespace

void JsonText::separate() {
  if (needs_comma_) text_.push_back(',');
  needs_comma_ = true;
}

JsonText& JsonText::begin(char bracket) {
  separate();
  text_.push_back(bracket);
  needs_comma_ = false;
  return *this;
}

JsonText& JsonText::end(char bracket) {
  text_.push_back(bracket);
  needs_comma_ = true;
  return *this;
}

void JsonText::append_quoted(std::string_view text) {
  text_.push_back('"');
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = plain_end(text, begin);
    text_.append(text.substr(begin, end - begin));
    if (end < text.size()) append_escaped(text_, text[end]);
    begin = end + 1;
  }
  text_.push_back('"');
}

JsonText& JsonText::member(std::string_view name) {
  separate();
  append_quoted(name);
  text_.push_back(':');
  needs_comma_ = false;
  return *this;
}

JsonText& JsonText::text(std::string_view value) {
  separate();
  append_quoted(value);
  return *this;
}

JsonText& JsonText::integer(std::int32_t value) {
  return number(std::to_string(value));
}

JsonText& JsonText::number(std::string_view written) {
  separate();
  text_.append(written);
  return *this;
}

}  // namespace varve::serve
