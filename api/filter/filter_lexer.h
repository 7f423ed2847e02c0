// Owns: the tokens of a `$filter`: where each begins, and the value of a literal.
// Must never: know the order in which tokens may occur. The parser knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "varve/result.h"
#include "varve/types.h"

namespace varve {

struct FilterToken {
  enum class Kind : std::uint8_t { kEnd, kOpen, kClose, kComma, kWord, kLiteral };
  Kind kind = Kind::kEnd;
  /// Start of the token, in bytes from the start of the filter.
  std::size_t offset = 0;
  /// The token as it is in the filter.
  std::string_view text;
  /// Value of a kLiteral. Other tokens leave it as it was.
  Value literal;
};

/// Returns kInvalidArgument (InvalidInput) for the position `offset`, in bytes. The message counts characters, from 1.
Status filter_error(std::string_view filter, std::size_t offset, std::string_view what);
/// Returns kUnsupported (NotImplemented), with a message of the same form.
Status filter_not_implemented(std::string_view filter, std::size_t offset, std::string_view what);

/// Reads one token after another. `true` and `false` are tokens of kind kWord.
class FilterLexer {
 public:
  /// `filter` must be valid UTF-8, and must outlive the lexer and its tokens. Only if `has_commas` is true, a comma is
  /// a token, which needs no white space around it.
  FilterLexer(std::string_view filter, bool has_commas) noexcept : filter_(filter), has_commas_(has_commas) {}

  /// Sets the next token; after the end, kEnd again. Between two tokens there must be white space (space, tab, CR,
  /// LF), unless one of them is a quoted text or a parenthesis. Errors: kInvalidArgument (InvalidInput).
  Status next(FilterToken& token);
  /// Returns true if a parenthesis opens directly after the last token.
  bool at_open() const noexcept { return at_ < filter_.size() && filter_[at_] == '('; }

 private:
  Status word(FilterToken& token);
  Status number(FilterToken& token);
  Status string(FilterToken& token);
  Status typed(std::string_view prefix, std::size_t begin, FilterToken& token);
  /// Sets all of the token but its value. Its text begins at `begin`, and ends where the lexer is.
  void end(FilterToken& token, FilterToken::Kind kind, std::size_t begin) const noexcept;
  Status literal(FilterToken& token, std::size_t begin, Value&& value) const;
  Result<std::string_view> quoted_text(std::size_t begin);
  Status error(std::size_t offset, std::string_view what) const { return filter_error(filter_, offset, what); }

  const std::string_view filter_;
  const bool has_commas_;
  std::size_t at_ = 0;
};

}  // namespace varve
