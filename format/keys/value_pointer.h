// Owns: how an entry of a table names a value that lies elsewhere, and how a run and a file sum up what they name.
// Must never: say what is at the place; who reads it compares with the hash.
//
// The value of an entry of kind kPutExternal:
//   varint number of the value file . varint offset . varint bytes . u64 content hash of the value
// What a run, or a table file, names: for each value file, numbers rising,
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
/// Errors: kCorruption (also: no file, no bytes, more bytes than an entry may have, an end beyond any file).
Result<ValuePointer> decode_value_pointer(std::string_view bytes);

/// How many bytes of values are named in one value file. A value that is named twice counts twice.
struct ValueFileUse {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  bool operator==(const ValueFileUse&) const = default;
};
/// Numbers rise.
using ValueFileUses = std::vector<ValueFileUse>;

void add_value_file_use(ValueFileUses& uses, const ValueFileUse& use);
/// There is at least one (asserted).
std::string encode_value_file_uses(const ValueFileUses& uses);
/// Errors: kCorruption (also: none at all).
Result<ValueFileUses> decode_value_file_uses(std::string_view bytes);

}  // namespace varve::format
