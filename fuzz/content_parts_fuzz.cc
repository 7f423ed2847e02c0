// Owns: the fuzzer of the parts of contents, and of the lists of blocks in them.
// Must never: give out a byte that its hash does not cover, or accept a part in another place.
//
// Input: the number of the content and the offset (8 bytes each, little-endian), then a stored part.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/blob/content_rows.h"
#include "format/bytes/bytes.h"
#include "fuzz/mutation.h"

namespace varve {
namespace {

constexpr std::size_t kPlaceBytes = 16;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_entries(std::string_view bytes) {
  const Result<std::vector<ListEntry>> entries = decode_list_entries(bytes);
  if (!entries.ok()) return check(entries.code() == Code::kCorruption);
  const bool is_empty_with_ids = entries->empty() && !bytes.empty();
  if (!is_empty_with_ids) check(encode_list_entries(*entries) == bytes);
}

/// Any bytes survive, and a part is refused in every other place, and with every byte changed.
void write_part(ContentId content, std::uint64_t offset, std::string_view bytes) {
  const std::string stored = encode_part(content, offset, bytes);
  const Result<std::string_view> read = decode_part(content, offset, stored);
  check(read.ok() && *read == bytes);
  check(part_bytes_of(stored.size()) == bytes.size());
  check(stored.size() == part_head_bytes(bytes.size()) + bytes.size());
  check(!decode_part(content + 1, offset, stored).ok() && !decode_part(content, offset + 1, stored).ok());
  const Result<PartHead> head = PartHead::open(content, offset, bytes.size(), stored);
  check(head.ok() && head->check(0, bytes).ok());
}

/// A packed part leads back to its bytes, in its place alone.
void write_packed_part(ContentId content, std::uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::optional<std::string> packed = encode_packed_part(content, offset, bytes, kPartBytes);
  if (!packed) return;
  check(is_packed_part(*packed));
  std::string room;
  const Result<std::string_view> read = decode_any_part(content, offset, *packed, room);
  check(read.ok() && *read == bytes);
  check(!decode_any_part(content + 1, offset, *packed, room).ok());
  check(!decode_part(content, offset, *packed).ok());
}

void read_packed_part(ContentId content, std::uint64_t offset, std::string_view stored) {
  if (!is_packed_part(stored)) return;
  std::string room;
  const Result<std::string_view> bytes = decode_any_part(content, offset, stored, room);
  if (!bytes.ok()) return check(bytes.code() == Code::kCorruption || bytes.code() == Code::kUnsupported);
  check(!bytes->empty() && bytes->size() <= kPartBytes);
}

void read_part(ContentId content, std::uint64_t offset, std::string_view stored) {
  const Result<std::string_view> bytes = decode_part(content, offset, stored);
  if (!bytes.ok()) return check(bytes.code() == Code::kCorruption || bytes.code() == Code::kUnsupported);
  check(part_bytes_of(stored.size()) == bytes->size());
  const Result<PartHead> head = PartHead::open(content, offset, bytes->size(), stored);
  check(head.ok() && head->check(0, *bytes).ok());
  read_entries(*bytes);
}

std::optional<std::string> mutated(fuzz::Chance& chance, std::string_view bytes) {
  if (bytes.size() < kPlaceBytes) return std::nullopt;
  std::uint64_t content = format::load_u64(bytes.data());
  std::uint64_t offset = format::load_u64(bytes.data() + 8);
  const Result<std::string_view> part = decode_part(content, offset, bytes.substr(kPlaceBytes));
  if (!part.ok()) return std::nullopt;
  std::string changed(*part);
  if (chance.one_in(4)) content = fuzz::mutated_number(chance, content);
  if (chance.one_in(4)) offset = fuzz::mutated_number(chance, offset);
  fuzz::mutate_bytes(changed);
  changed.resize(std::min(changed.size(), kPartBytes));
  std::string made;
  format::append_u64(made, content);
  format::append_u64(made, offset);
  return made.append(encode_part(content, offset, changed));
}

}  // namespace
}  // namespace varve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.size() < varve::kPlaceBytes) return 0;
  const std::uint64_t content = varve::format::load_u64(input.data());
  const std::uint64_t offset = varve::format::load_u64(input.data() + 8);
  const std::string_view bytes = input.substr(varve::kPlaceBytes);
  varve::read_part(content, offset, bytes);
  varve::read_packed_part(content, offset, bytes);
  varve::read_entries(bytes);
  if (bytes.size() <= varve::kPartBytes) {
    varve::write_part(content, offset, bytes);
    varve::write_packed_part(content, offset, bytes);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_structure(data, size, size_max, seed, varve::mutated);
}
