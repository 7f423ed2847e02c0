// Owns: how a table's entry names a value in a value file, and how a run and a table file sum up the values that they
// name.
// Must never: vouch for the bytes at that place. The reader compares them with the hash.
//
// The value of an entry of kind kPutExternal:
//   varint number of the value file . varint offset . varint bytes . u64 content hash of the value
// The values that a run or a table file names, as a list of value files with rising numbers:
//   varint number . varint bytes of all values named in it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::format {

struct ValuePointer {
  std::uint64_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t content_hash = 0;
  bool operator==(const ValuePointer&) const = default;
};
void append_value_pointer(std::string& out, const ValuePointer& pointer);
/// Errors: kCorruption (also: file number zero, no bytes, more bytes than an entry may have, an offset beyond any
/// file).
Result<ValuePointer> decode_value_pointer(std::string_view bytes);

/// Number of bytes of values that are named in one value file. A value that is named twice counts twice.
struct ValueFileUse {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  bool operator==(const ValueFileUse&) const = default;
};
/// The numbers rise.
using ValueFileUses = std::vector<ValueFileUse>;

void add_value_file_use(ValueFileUses& uses, const ValueFileUse& use);
/// Encodes the list, which must not be empty (asserted).
std::string encode_value_file_uses(const ValueFileUses& uses);
/// Errors: kCorruption (also: an empty list).
Result<ValueFileUses> decode_value_file_uses(std::string_view bytes);

}  // namespace varve::format
