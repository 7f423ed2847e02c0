// Owns: fields that a later version may extend: varint tag, varint length, bytes.
// Must never: drop an unknown field. An unknown even tag is skipped, and kept when the structure is rewritten. An
// unknown odd tag means that the reader is too old: it is Unsupported, never Corruption.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes/bytes.h"
#include "varve/result.h"

namespace varve::format {

using Tag = std::uint32_t;

constexpr bool must_be_known(Tag tag) noexcept {
  return tag % 2 == 1;
}

void append_field(std::string& out, Tag tag, std::string_view value);
/// Appends a field with the value as a varint.
void append_number_field(std::string& out, Tag tag, std::uint64_t value);
std::size_t number_field_bytes(Tag tag, std::uint64_t value) noexcept;
char* store_number_field(char* at, Tag tag, std::uint64_t value) noexcept;

struct Field {
  Tag tag = 0;
  std::string_view value;
  /// Returns the value if it is exactly one varint, and kCorruption otherwise.
  Result<std::uint64_t> number() const;
};

/// Iterates over fields front to back. Tags rise, and may repeat if the structure is a list. A falling tag is damage.
class FieldReader {
 public:
  explicit FieldReader(std::string_view fields) noexcept : reader_(fields) {}
  bool at_end() const noexcept { return reader_.at_end(); }
  /// Errors: kCorruption (a length runs past the end, tags out of order, tag zero or above 2^32-1).
  Result<Field> next();

 private:
  ByteReader reader_;
  Tag last_tag_ = 0;
};

/// Handles an unknown tag: appends an even one to `kept`, and refuses an odd one with kUnsupported.
Status keep_unknown(const Field& field, std::string_view thing, std::string& kept);

}  // namespace varve::format
