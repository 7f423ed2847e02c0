// Owns: the forms of words and literals (filter_lexer.h).
// Must never: read after the end of the filter, or accept a text that only begins like a literal.
#include "api/filter/filter_lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "api/filter/filter_hint.h"
#include "api/model/ascii.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"

namespace varve {
namespace {

constexpr std::size_t kGuidCharacters = 36;

bool is_word_begin(char c) noexcept {
  return is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_word(char c) noexcept {
  return is_word_begin(c) || is_digit(c);
}

/// As X-15 says.
bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// A quote directly after a keyword opens a text. After another word it belongs to a typed literal, such as guid'...'.
bool is_keyword(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 9> kKeywords = {"eq", "ne", "gt", "ge", "lt", "le", "and", "or", "not"};
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

std::optional<Binary> read_binary(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  Binary binary;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::optional<unsigned> high = hex_digit(digits[i]);
    const std::optional<unsigned> low = hex_digit(digits[i + 1]);
    if (!high || !low) return std::nullopt;
    binary.bytes.push_back(static_cast<char>(*high << 4 | *low));
  }
  return binary;
}

/// Checks for the one form of the grammar. Guid::parse accepts more.
bool is_hyphenated_guid(std::string_view text) noexcept {
  if (text.size() != kGuidCharacters) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : !hex_digit(text[i]).has_value()) return false;
  }
  return true;
}

/// Checks for `digits [. digits] [exponent]` with an optional minus sign. from_chars accepts more.
bool is_decimal(std::string_view text) noexcept {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > begin;
  };
  if (!digits()) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

bool is_integer(std::string_view text) noexcept {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit);
}

/// Returns nothing if the number does not fit.
template <typename Number>
std::optional<Number> read_number(std::string_view text) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::size_t characters_before(std::string_view filter, std::size_t offset) noexcept {
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  const std::string_view before = filter.substr(0, offset);
  return static_cast<std::size_t>(std::count_if(before.begin(), before.end(), is_first_byte));
}

std::string at_character(std::string_view filter, std::size_t offset, std::string_view what) {
  return "the filter, character " + std::to_string(characters_before(filter, offset) + 1) + ": " + std::string(what);
}

}  // namespace

Status filter_error(std::string_view filter, std::size_t offset, std::string_view what) {
  return service_error::invalid_input(at_character(filter, offset, what)).with_hint(filter_hint(filter, offset));
}

Status filter_not_implemented(std::string_view filter, std::size_t offset, std::string_view what) {
  return service_error::not_implemented(at_character(filter, offset, what)).with_hint(filter_hint(filter, offset));
}

void FilterLexer::end(FilterToken& token, FilterToken::Kind kind, std::size_t begin) const noexcept {
  token.kind = kind;
  token.offset = begin;
  token.text = filter_.substr(begin, at_ - begin);
}

Status FilterLexer::next(FilterToken& token) {
  const std::size_t before = at_;
  while (at_ < filter_.size() && is_space(filter_[at_])) ++at_;
  if (at_ == filter_.size()) {
    end(token, FilterToken::Kind::kEnd, at_);
    return Status();
  }
  const char c = filter_[at_];
  if (c == '(' || c == ')' || (c == ',' && has_commas_)) {
    ++at_;
    const auto kind = c == '('   ? FilterToken::Kind::kOpen
                      : c == ')' ? FilterToken::Kind::kClose
                                 : FilterToken::Kind::kComma;
    end(token, kind, at_ - 1);
    return Status();
  }
  const bool apart = at_ > before || at_ == 0 || c == '\'' ||
                     std::string_view("()',").find(filter_[at_ - 1]) != std::string_view::npos;
  if (!apart) return error(at_, "a space is expected before this");
  if (c == '\'') return string(token);
  if (c == '-' || is_digit(c)) return number(token);
  if (is_word_begin(c)) return word(token);
  return error(at_, quoted(filter_.substr(at_, 1)) + " is not allowed here");
}

Status FilterLexer::word(FilterToken& token) {
  const std::size_t begin = at_;
  while (at_ < filter_.size() && is_word(filter_[at_])) ++at_;
  end(token, FilterToken::Kind::kWord, begin);
  const bool may_be_typed = at_ < filter_.size() && filter_[at_] == '\'';
  return may_be_typed && !is_keyword(token.text) ? typed(token.text, begin, token) : Status();
}

Status FilterLexer::literal(FilterToken& token, std::size_t begin, Value&& value) const {
  end(token, FilterToken::Kind::kLiteral, begin);
  token.literal = std::move(value);
  return Status();
}

/// Reads from the current quote to the next single quote, which ends the text. Two quotes represent one.
Result<std::string_view> FilterLexer::quoted_text(std::size_t begin) {
  const std::size_t first = ++at_;
  for (; at_ < filter_.size(); ++at_) {
    if (filter_[at_] != '\'') continue;
    if (at_ + 1 == filter_.size() || filter_[at_ + 1] != '\'') return filter_.substr(first, at_++ - first);
    ++at_;
  }
  return error(begin, "the quote that opens here is not closed")
      .with_hint("inside a text, write two single quotes for one: 'O''Brien'");
}

Status FilterLexer::string(FilterToken& token) {
  const std::size_t begin = at_;
  const Result<std::string_view> text = quoted_text(begin);
  if (!text.ok()) return text.status();
  std::string value;
  value.reserve(text->size());
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('\''));
    value.append(rest.substr(0, part.size() + 1));  // with the first of two quotes, if there are two
    rest.remove_prefix(std::min(rest.size(), part.size() + 2));
  }
  return literal(token, begin, std::move(value));
}

Status FilterLexer::typed(std::string_view prefix, std::size_t begin, FilterToken& token) {
  const Result<std::string_view> text = quoted_text(at_);
  if (!text.ok()) return text.status();
  if (prefix == "datetime") {
    const Result<DateTime> value = DateTime::parse(*text);
    if (!value.ok()) return error(begin, value.status().message());
    return literal(token, begin, *value);
  }
  if (prefix == "guid") {
    const Result<Guid> value = Guid::parse(*text);
    if (!is_hyphenated_guid(*text) || !value.ok())
      return error(begin, quoted(*text) + " is not a Guid; expected 8-4-4-4-12 hexadecimal digits");
    return literal(token, begin, *value);
  }
  if (prefix == "X" || prefix == "x" || prefix == "binary") {
    std::optional<Binary> value = read_binary(*text);
    if (!value) return error(begin, quoted(*text) + " is not binary; expected pairs of hexadecimal digits");
    return literal(token, begin, *std::move(value));
  }
  return error(begin, quoted(prefix) + " is not a type of literal; use datetime, guid, X or binary");
}

Status FilterLexer::number(FilterToken& token) {
  const std::size_t begin = at_;
  ++at_;
  while (at_ < filter_.size()) {
    const char last = filter_[at_ - 1];
    const bool sign_of_exponent = (filter_[at_] == '+' || filter_[at_] == '-') && (last == 'e' || last == 'E') &&
                                  is_digit(filter_[begin + (filter_[begin] == '-' ? 1 : 0)]);
    if (!is_word(filter_[at_]) && filter_[at_] != '.' && !sign_of_exponent) break;
    ++at_;
  }
  const std::string_view text = filter_.substr(begin, at_ - begin);
  if (text == "-INF") return literal(token, begin, -std::numeric_limits<double>::infinity());
  const std::string_view body = text.substr(0, text.size() - 1);
  const char suffix = text.back();
  if ((suffix == 'L' || suffix == 'l') && is_integer(body)) {
    if (const auto value = read_number<std::int64_t>(body)) return literal(token, begin, *value);
    return error(begin, quoted(body) + " does not fit into an Int64");
  }
  if ((suffix == 'D' || suffix == 'd') && is_decimal(body)) {
    if (const auto value = read_number<double>(body)) return literal(token, begin, *value);
    return error(begin, quoted(body) + " does not fit into a Double");
  }
  if (is_integer(text)) {
    if (const auto value = read_number<std::int32_t>(text)) return literal(token, begin, *value);
    return error(begin, quoted(text) + " does not fit into an Int32; end an Int64 literal with L");
  }
  if (is_decimal(text)) {
    if (const auto value = read_number<double>(text)) return literal(token, begin, *value);
    return error(begin, quoted(text) + " does not fit into a Double");
  }
  return error(begin, quoted(text) + " is not a number");
}

}  // namespace varve
