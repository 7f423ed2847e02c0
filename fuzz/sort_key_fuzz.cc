// Owns: the fuzzer of sort keys: hostile encodings, and hostile texts compared with a slow reference.
// Must never: accept an encoding that our encoder would not make, or another order than that of UTF-16 code units.
//
// Input: one byte of mode, then an encoded key (even mode). In an odd mode: a byte with the length of a first text,
// then that text and a second one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/keys/sort_key.h"
#include "tests/format/hostile_text.h"

namespace varve::format {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

int sign(int value) {
  return (value > 0) - (value < 0);
}

void read_key(std::string_view bytes) {
  const bool framed = is_framed(bytes);
  const Result<SortKey> decoded = decode_sort_key(bytes);
  if (framed) {
    const std::string_view partition = partition_of(bytes);
    check(partition.size() > kTableIdBytes && partition.size() < bytes.size());
    check(bytes.substr(0, partition.size()) == partition);
  }
  if (!decoded.ok()) {
    check(decoded.code() == Code::kCorruption);
    return;
  }
  check(framed && table_id_of(bytes) == decoded->table);
  const Result<std::string> again = encode_sort_key(decoded->table, decoded->partition_key, decoded->row_key);
  check(again.ok() && *again == bytes);
  const Result<std::string> partition = encode_partition(decoded->table, decoded->partition_key);
  check(partition.ok() && *partition == partition_of(bytes));
}

/// Returns whether the text is UTF-8. If it is, stores its encoding in `encoding`.
bool read_text(std::string_view text, std::string& encoding) {
  const bool valid = slow_code_points(text).has_value();
  check(is_valid_utf8(text) == valid);
  const Status appended = append_text(encoding, text);
  check(appended.ok() == valid);
  check(valid || (encoding.empty() && appended.code() == Code::kInvalidArgument));
  check(!valid || utf16_length(text) == slow_utf16(text).size());
  return valid;
}

void compare_texts(std::string_view a, std::string_view b) {
  std::string encoded_a;
  std::string encoded_b;
  const bool a_valid = read_text(a, encoded_a);
  const bool b_valid = read_text(b, encoded_b);
  if (!a_valid || !b_valid) return;
  const auto units_a = slow_utf16(a);
  const auto units_b = slow_utf16(b);
  const int order = (units_a > units_b) - (units_a < units_b);
  check(sign(encoded_a.compare(encoded_b)) == order);
  check(sign(compare_text(a, b)) == order);

  std::string prefix;
  check(append_text_prefix(prefix, a).ok());
  const std::string end = end_of_prefix(prefix);
  const bool in_range = encoded_b >= prefix && (end.empty() || encoded_b < end);
  check(in_range == (b.substr(0, a.size()) == a));

  const Result<std::string> key = encode_sort_key(1, a, b);
  check(key.ok());
  read_key(*key);
  const Result<SortKey> decoded = decode_sort_key(*key);
  check(decoded.ok() && decoded->partition_key == a && decoded->row_key == b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    read_key(rest);
  } else if (!rest.empty()) {
    const std::string_view texts = rest.substr(1);
    const std::size_t first_bytes = static_cast<unsigned char>(rest[0]) % (texts.size() + 1);
    compare_texts(texts.substr(0, first_bytes), texts.substr(first_bytes));
  }
  return 0;
}

}  // namespace varve::format
