// Owns: splitting one line of the shell into words.
// Must never: give quotes a meaning other than keeping a word together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::tool {

/// A word without its quotes, and the offset of its beginning in the line.
struct LineWord {
  std::string text;
  std::size_t begin = 0;
};

/// Splits a line at spaces. Single or double quotes enclose a word with spaces. A doubled quote inside them means one
/// quote. Errors: kInvalidArgument (a quote that is not closed).
Result<std::vector<LineWord>> split_line(std::string_view line);

/// The options of `query` and `count`.
struct AskedQuery {
  std::string filter;
  std::vector<std::string> select;
  std::uint64_t top = 0;  // 0: no limit
  bool backward = false;
};

/// Parses `[--select A,B] [--top N] [--backward] [FILTER]`, starting at the second word. The filter is the unchanged
/// rest of the line. Errors: kInvalidArgument.
Result<AskedQuery> parse_query_line(std::string_view line, const std::vector<LineWord>& words);

}  // namespace varve::tool
