// Owns: how a row's key is made: of one column, or of a text with columns and values of the program.
// Must never: make a key of a column that the row lacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/result.h"

namespace varve::tool {

/// Where a row comes from.
struct RowOrigin {
  std::uint64_t line = 0;
  /// The number of the row in its text, from 1. Blank lines and comments do not count.
  std::uint64_t row = 0;
  std::string_view file{};
  /// The name of the member that is the row, if the rows are the members of a JSON object.
  std::string_view name{};
};

struct KeyPart {
  enum class Kind : std::uint8_t { kText, kColumn, kLine, kRow, kUuid, kTicks, kInvertedTicks, kFile, kName };
  Kind kind = Kind::kText;
  /// The text, or the column's name.
  std::string text;
  /// The column's place in its file. The reader of a file with columns sets it.
  std::size_t column = 0;
  /// The number of the first characters of a column that are a part of the key.
  std::size_t characters_max = SIZE_MAX;

  bool operator==(const KeyPart& other) const {
    return kind == other.kind && text == other.text && characters_max == other.characters_max;
  }
};

/// Returns the first characters of a text in UTF-8, at most `characters_max`.
std::string_view first_characters(std::string_view text, std::size_t characters_max) noexcept;

class KeyTemplate {
 public:
  /// The key is the column.
  explicit KeyTemplate(std::string column);
  /// Parses `COLUMN`, `=TEXT`, or a text with `{COLUMN}`, `{COLUMN[:2]}` (its first two characters) and `{@VALUE}` in
  /// it. `{{` and `}}` are braces.
  /// Errors: kInvalidArgument.
  static Result<KeyTemplate> parse(std::string_view text);

  std::vector<KeyPart>& parts() noexcept { return parts_; }
  const std::vector<KeyPart>& parts() const noexcept { return parts_; }
  /// Returns the column if the key is one column, else null.
  const KeyPart* only_column() const noexcept;
  bool operator==(const KeyTemplate& other) const;

  /// Returns the key. `text_of` returns the text of a column's part as Result<std::string>; its errors are returned.
  template <typename TextOf>
  Result<std::string> make(const RowOrigin& origin, const TextOf& text_of) const {
    std::string key;
    for (const KeyPart& part : parts_) {
      if (part.kind != KeyPart::Kind::kColumn) {
        append(part, origin, key);
        continue;
      }
      Result<std::string> text = text_of(part);
      if (!text.ok()) return text.status();
      key += first_characters(*text, part.characters_max);
    }
    return key;
  }

 private:
  KeyTemplate() = default;
  Status add_column(std::string_view name);
  Status add_value(std::string_view name);
  static void append(const KeyPart& part, const RowOrigin& origin, std::string& key);

  std::vector<KeyPart> parts_;
};

/// Replaces what a key may not contain (`/`, `\`, `#`, `?` and control characters) by `replacement`.
std::string with_replaced_characters(std::string_view key, std::string_view replacement);

}  // namespace varve::tool
