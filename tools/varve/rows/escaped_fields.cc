#include "tools/varve/rows/escaped_fields.h"

#include <utility>

namespace varve::tool {

namespace {

constexpr std::string_view kLetters = "tnrbfv0";
constexpr std::string_view kMeanings{"\t\n\r\b\f\v\0", 7};

}  // namespace

void EscapedFields::reset() {
  state_ = State::kBegin;
  escaped_ = is_null_ = false;
  field_.clear();
}

void EscapedFields::end_field(std::vector<std::string>& fields) {
  fields.push_back(is_null_ ? std::string() : std::move(field_));
  reset();
}

void EscapedFields::take_escaped(char c) {
  escaped_ = false;
  is_null_ = state_ == State::kBegin && c == 'N';
  if (state_ == State::kBegin) state_ = State::kPlain;
  const std::size_t letter = escape_ == '\\' ? kLetters.find(c) : std::string_view::npos;
  field_ += letter == std::string_view::npos ? c : kMeanings[letter];
}

/// Takes a byte that ends no record. Returns false at a quote, or after one, where none may be.
bool EscapedFields::take(char c, std::vector<std::string>& fields) {
  if (escaped_) {
    take_escaped(c);
    return true;
  }
  if (c == escape_ && state_ != State::kQuoteSeen) {
    escaped_ = true;
    return true;
  }
  if (state_ == State::kQuoted) {
    if (c == quote_) {
      state_ = State::kQuoteSeen;
    } else {
      field_ += c;
    }
    return true;
  }
  if (c == delimiter_) {
    end_field(fields);
    return true;
  }
  if (c == quote_) {
    if (state_ == State::kPlain) return false;
    if (state_ == State::kQuoteSeen) field_ += c;  // doubled
    state_ = State::kQuoted;
    return true;
  }
  if (state_ == State::kQuoteSeen) return c == '\r';
  state_ = State::kPlain;
  is_null_ = false;
  field_ += c;
  return true;
}

EscapedFields::Fed EscapedFields::feed(std::string_view line, std::vector<std::string>& fields) {
  for (const char c : line) {
    if (c == '\n' && !escaped_ && state_ != State::kQuoted) {
      if (state_ == State::kPlain && field_.ends_with('\r')) field_.pop_back();
      end_field(fields);
      return Fed::kRecord;
    }
    if (!take(c, fields)) return Fed::kFault;
  }
  return Fed::kMore;
}

}  // namespace varve::tool
