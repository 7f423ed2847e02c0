// Owns: the words of a `$filter`: where each begins, and what a literal stands for.
// Must never: know what may follow what; the parser does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "varve/result.h"
#include "varve/types.h"

namespace varve {

struct FilterToken {
  enum class Kind : std::uint8_t { kEnd, kOpen, kClose, kWord, kLiteral };
  Kind kind = Kind::kEnd;
  /// In the filter, in bytes.
  std::size_t offset = 0;
  /// As it stands there.
  std::string_view text;
  /// Of kLiteral.
  Value literal;
};

/// kInvalidArgument (InvalidInput) about the place `offset` bytes into `filter`, which is counted in characters,
/// from 1.
Status filter_error(std::string_view filter, std::size_t offset, std::string_view what);
/// The same, for what the service does not implement.
Status filter_not_implemented(std::string_view filter, std::size_t offset, std::string_view what);

/// Reads one token after the other. The words `true` and `false` are words here.
class FilterLexer {
 public:
  /// `filter` is valid UTF-8 and outlives the lexer and its tokens.
  explicit FilterLexer(std::string_view filter) noexcept : filter_(filter) {}

  /// Two tokens have white space between them (space, tab, CR, LF), unless there is a quote or a parenthesis on one
  /// side. After the end comes the end again. Errors: kInvalidArgument (InvalidInput).
  Result<FilterToken> next();
  /// Whether a parenthesis opens directly behind the last token.
  bool at_open() const noexcept { return at_ < filter_.size() && filter_[at_] == '('; }

 private:
  Result<FilterToken> word();
  Result<FilterToken> number();
  Result<FilterToken> string();
  Result<FilterToken> typed(std::string_view prefix, std::size_t begin);
  Result<FilterToken> literal(std::size_t begin, Value value);
  Result<std::string_view> quoted_text(std::size_t begin);
  Status error(std::size_t offset, std::string_view what) const { return filter_error(filter_, offset, what); }

  const std::string_view filter_;
  std::size_t at_ = 0;
};

}  // namespace varve
