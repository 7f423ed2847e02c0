// Owns: C++ source for the lint: includes and tokens with their lines, without comments and literals.
// Must never: try to be a compiler. It knows no types and expands no macro.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace varve::test {

struct SourceFile {
  std::string path;  // From the root of the repository, for example "engine/engine.h".
  std::string text;
};

struct Include {
  std::string name;
  bool angled = false;
  std::size_t line = 0;  // From 1, as all line numbers below.
};

/// A token: an identifier or number, `::`, `->`, an empty literal `""` in place of any string or character, or one
/// other character.
struct Token {
  std::string text;
  std::size_t line = 0;
};

struct SourceTokens {
  std::vector<Include> includes;
  std::vector<Token> tokens;
};

SourceTokens tokenize(std::string_view text);

/// Returns the comment lines at the head of the file, up to the first other line.
std::string_view head_comment(std::string_view text);

/// Returns the folder of a path, "engine/log" for "engine/log/wal.h", or "." for a file at the root of the repository.
std::string folder_of(std::string_view path);

/// Returns every file below `root`/`directory` whose name ends in one of `endings`, in order of path. Returns nothing
/// if the directory does not exist.
std::vector<SourceFile> read_sources(const std::string& root, std::string_view directory,
                                     const std::vector<std::string>& endings);

}  // namespace varve::test
