// Owns: pointers to values and their sums (value_pointer.h).
// Must never: add up numbers from a file before checking their bounds.
#include "format/keys/value_pointer.h"

#include <algorithm>
#include <cassert>

#include "format/bytes/bytes.h"
#include "format/bytes/damage.h"

namespace varve::format {
namespace {

/// Limit of a value in bytes: a commit's record contains the whole value.
constexpr std::uint64_t kValueBytesMax = std::uint64_t{64} << 20;
/// Limit of a value file in bytes.
constexpr std::uint64_t kValueFileBytesMax = std::uint64_t{1} << 56;

}  // namespace

void append_value_pointer(std::string& out, const ValuePointer& pointer) {
  append_varint(out, pointer.file);
  append_varint(out, pointer.offset);
  append_varint(out, pointer.bytes);
  append_u64(out, pointer.content_hash);
}

Result<ValuePointer> decode_value_pointer(std::string_view bytes) {
  ValuePointer pointer;
  ByteReader reader(bytes);
  if (!reader.read_varint(&pointer.file) || !reader.read_varint(&pointer.offset) ||
      !reader.read_varint(&pointer.bytes) || !reader.read_u64(&pointer.content_hash) || !reader.at_end()) {
    return damaged("pointer to a value", "is cut short or too long");
  }
  if (pointer.file == 0 || pointer.bytes == 0 || pointer.bytes > kValueBytesMax ||
      pointer.offset > kValueFileBytesMax) {
    return damaged("pointer to a value", "no value can be at byte " + std::to_string(pointer.offset) + " of file " +
                                             std::to_string(pointer.file) + " with " + std::to_string(pointer.bytes) +
                                             " bytes");
  }
  return pointer;
}

void add_value_file_use(ValueFileUses& uses, const ValueFileUse& use) {
  const auto place =
      std::lower_bound(uses.begin(), uses.end(), use.number,
                       [](const ValueFileUse& known, std::uint64_t number) { return known.number < number; });
  if (place != uses.end() && place->number == use.number) {
    place->bytes += use.bytes;
  } else {
    uses.insert(place, use);
  }
}

std::string encode_value_file_uses(const ValueFileUses& uses) {
  assert(!uses.empty());
  std::string out;
  for (const ValueFileUse& use : uses) {
    append_varint(out, use.number);
    append_varint(out, use.bytes);
  }
  return out;
}

Result<ValueFileUses> decode_value_file_uses(std::string_view bytes) {
  ValueFileUses uses;
  ByteReader reader(bytes);
  std::uint64_t last = 0;
  do {
    ValueFileUse use;
    if (!reader.read_varint(&use.number) || !reader.read_varint(&use.bytes)) {
      return damaged("value files in use", "the list is cut short");
    }
    if (use.number <= last || use.bytes == 0 || use.bytes > kValueFileBytesMax) {
      return damaged("value files in use", "file " + std::to_string(use.number) + " with " + std::to_string(use.bytes) +
                                               " bytes is impossible here");
    }
    last = use.number;
    uses.push_back(use);
  } while (!reader.at_end());
  return uses;
}

}  // namespace varve::format
