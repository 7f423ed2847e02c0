// Owns: the form that all rows of our own have beside entities: numbers in keys, keys of two parts, checked properties.
// Must never: return a row of which a property is missing, or give two numbers one text.
//
// A number in a key is written as 11 characters that sort like the number. Values are encoded like entities, so that
// inspection, verification and repair read these rows as they read all others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "format/keys/entity.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve {

/// Ticks of 100 ns since year 1, as commit versions have them.
using Ticks = std::uint64_t;

/// The characters of a number.
class NumberText {
 public:
  static constexpr std::size_t kCharacters = 11;
  explicit NumberText(std::uint64_t number) noexcept;
  operator std::string_view() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, kCharacters> text_;
};
std::optional<std::uint64_t> parse_number_text(std::string_view text) noexcept;

/// The first part of a key: the letter of the row's kind, and a number.
class KindAndNumber {
 public:
  KindAndNumber(char kind, std::uint64_t number) noexcept;
  operator std::string_view() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 1 + NumberText::kCharacters> text_;
};
/// Returns the number, or nothing if the part has another kind or no number.
std::optional<std::uint64_t> parse_kind_and_number(char kind, std::string_view part) noexcept;

/// Makes the key of a row. Both parts are UTF-8 (asserted).
std::string stored_row_key(format::TableId table, std::string_view first, std::string_view second);

/// Both parts of a key, as they lie in it. A part that holds a number lies there as it is.
struct KeyParts {
  std::string_view first;
  std::string_view second;
};
std::optional<KeyParts> key_parts_of(std::string_view key) noexcept;

/// Builds a row at once where it stays. `names_and_values` is the most bytes that all properties have together.
class RowBuilder : public format::EntityBuilder {
 public:
  RowBuilder(std::size_t properties, std::size_t names_and_values) {
    std::string room;
    room.reserve(entity_bytes(properties, names_and_values));
    begin_behind(std::move(room), properties);
  }
};

/// Reads properties of known types. Remembers if one was missing.
class RowReader {
 public:
  explicit RowReader(const format::EncodedEntity& row) : row_(row) {}

  Ticks time(std::string_view name);
  std::uint32_t count(std::string_view name);
  std::int64_t number(std::string_view name);
  /// A number that is never negative.
  std::uint64_t length(std::string_view name);
  Guid guid(std::string_view name);
  std::string_view text(std::string_view name);
  std::string_view bytes(std::string_view name);
  bool boolean(std::string_view name);
  bool has(std::string_view name) const { return row_.find(name).has_value(); }
  /// Notes that a value is not one that is ever written.
  void refuse() noexcept { is_whole_ = false; }
  const format::EncodedEntity& row() const noexcept { return row_; }

  /// Errors: kCorruption.
  Status status(std::string_view what) const;

 private:
  std::optional<format::PropertyView> find(std::string_view name, format::PropertyType type);

  const format::EncodedEntity& row_;
  bool is_whole_ = true;
};

/// Decodes one row. `read` takes the reader, and returns the row. Errors: kCorruption, kUnsupported.
template <typename Read>
auto decode_stored_row(std::string_view value, std::string_view what, Read read)
    -> Result<decltype(read(std::declval<RowReader&>()))> {
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status();
  RowReader reader(*row);
  auto decoded = read(reader);
  if (Status whole = reader.status(what); !whole.ok()) return whole;
  return decoded;
}

}  // namespace varve
