// Owns: the fields of a row in which a character escapes others, as MySQL and PostgreSQL write them.
// Must never: end a record within a line, or before its last line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve::tool {

class EscapedFields {
 public:
  enum class Fed : std::uint8_t {
    kMore,    // the record goes on in the next line
    kRecord,  // `fields` are those of the record
    kFault,   // a quote is where none may be
  };

  EscapedFields(char delimiter, std::optional<char> quote, char escape)
      : delimiter_(delimiter), quote_(quote), escape_(escape) {}

  /// Takes a line with its line feed, and appends the fields that end in it. After the escape character a character
  /// has no meaning, also a quote, a delimiter and a line feed. After a backslash, `t n r b f v 0` are control
  /// characters. A field `\N` is empty. Blanks around fields stay.
  Fed feed(std::string_view line, std::vector<std::string>& fields);
  /// Forgets a record that has begun.
  void reset();

 private:
  enum class State : std::uint8_t { kBegin, kPlain, kQuoted, kQuoteSeen };

  bool take(char c, std::vector<std::string>& fields);
  void take_escaped(char c);
  void end_field(std::vector<std::string>& fields);

  char delimiter_;
  std::optional<char> quote_;
  char escape_;
  State state_ = State::kBegin;
  bool escaped_ = false;
  bool is_null_ = false;  // the field is the escape character and N so far
  std::string field_;
};

}  // namespace varve::tool
