// Owns: one line of the shell as words.
// Must never: give quotes a meaning beyond holding a word together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::tool {

/// A word, and where it begins in the line; quotes are taken off.
struct LineWord {
  std::string text;
  std::size_t begin = 0;
};

/// Words stand apart by spaces. Between single or double quotes everything is part of the word; the same quote twice
/// stands for itself. Errors: kInvalidArgument (a quote that is not closed).
Result<std::vector<LineWord>> split_line(std::string_view line);

/// What `query` and `count` are asked for.
struct AskedQuery {
  std::string filter;
  std::vector<std::string> select;
  std::uint64_t top = 0;  // none
  bool backward = false;
};

/// `[--select A,B] [--top N] [--backward] [FILTER]` from the second word on; the filter is the rest of the line as it
/// stands. Errors: kInvalidArgument.
Result<AskedQuery> parse_query_line(std::string_view line, const std::vector<LineWord>& words);

}  // namespace varve::tool
