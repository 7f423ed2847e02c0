// Owns: the one order of all entities, as bytes.
// Must never: lose a character or map two keys to one encoding. The encoding is injective. memcmp of encodings gives
// the table service's order: PartitionKey, then RowKey, each ordinal by UTF-16 code unit.
//
//   sort key = table id (8 bytes, big-endian) . text(PartitionKey) . text(RowKey)
//
// text(s) is the UTF-8 of s with two changes, and a byte 00 at its end:
//   - Lead bytes EE and EF (U+E000 to U+FFFF) become F5 and F6. They then sort above F0 to F4, the characters that
//     UTF-16 writes with surrogates D800 to DFFF.
//   - Bytes 00 and 01 become 01 01 and 01 02, so that 00 can end the text.
// Every table, partition, RowKey range and RowKey prefix is one contiguous range. A prefix range is an encoding without
// its end byte. The upper half of a table id is the account's number, so an account's tables are contiguous too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes/bytes.h"
#include "varve/result.h"

namespace varve::format {

using TableId = std::uint64_t;
constexpr TableId make_table_id(std::uint32_t account, std::uint32_t table) noexcept {
  return (static_cast<TableId>(account) << 32) | table;
}
constexpr std::uint32_t account_of(TableId id) noexcept {
  return static_cast<std::uint32_t>(id >> 32);
}

inline constexpr std::size_t kAccountIdBytes = 4;
inline constexpr std::size_t kTableIdBytes = 8;
/// Returns whether the key has the length of an account id or a table id, which prefix all keys of the account or the
/// table.
constexpr bool is_id_prefix(std::string_view key) noexcept {
  return key.size() == kAccountIdBytes || key.size() == kTableIdBytes;
}
/// Limit of a sort key in bytes. A text of 1,024 code units has at most 3,072 bytes of UTF-8, and an end byte.
inline constexpr std::size_t kSortKeyBytesMax = kTableIdBytes + 2 * 3073;

bool is_valid_utf8(std::string_view text) noexcept;
/// Returns the number of UTF-16 code units of valid UTF-8.
std::size_t utf16_length(std::string_view text) noexcept;
/// Compares valid UTF-8 texts in the service's order. Returns a number below, equal to or above zero.
int compare_text(std::string_view a, std::string_view b) noexcept;

void append_table_id(std::string& out, TableId id);
/// Append text(s) with or without its end byte. The caller limits lengths. Errors: kInvalidArgument (not UTF-8; the
/// message names the byte); `out` is then unchanged.
Status append_text(std::string& out, std::string_view text);
Status append_text_prefix(std::string& out, std::string_view text);

/// Appends a sort key. Errors: see append_text(); `out` may then end with a part of the key.
Status append_sort_key(std::string& out, TableId table, std::string_view partition_key, std::string_view row_key);
/// Returns the size in bytes of a key whose texts contain no bytes 00 and 01, which are encoded as two bytes.
std::size_t sort_key_bytes(std::string_view partition_key, std::string_view row_key) noexcept;
Result<std::string> encode_sort_key(TableId table, std::string_view partition_key, std::string_view row_key);
/// Returns whether all bytes are from 02 to 7F: each is one character and encodes as itself.
constexpr bool is_plain_word(std::uint64_t word) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  // Produces a carry into the high bit of every byte from 02 to 7F, and no carry into the next byte.
  constexpr std::uint64_t kPlainCarry = 0x7E7E7E7E7E7E7E7E;
  return (word & kHighBits) == 0 && ((word + kPlainCarry) & kHighBits) == kHighBits;
}
/// Returns whether the whole text encodes as itself: it is ASCII without bytes 00 and 01.
bool is_plain(std::string_view text) noexcept;
/// Stores the sort key of two plain texts, which has sort_key_bytes() bytes.
void store_plain_sort_key(char* to, TableId table, std::string_view partition_key, std::string_view row_key) noexcept;

/// The sort key of one read, in an inline buffer that fits ordinary keys, so that they need no allocation.
class SortKeyBuffer {
 public:
  SortKeyBuffer() noexcept = default;  // leaves the inline buffer uninitialized: it is written before it is read
  SortKeyBuffer(const SortKeyBuffer&) = delete;
  SortKeyBuffer& operator=(const SortKeyBuffer&) = delete;

  /// Encodes the key. Errors: see append_text(); the key is then empty.
  Status encode(TableId table, std::string_view partition_key, std::string_view row_key);
  std::string_view key() const noexcept { return key_; }

 private:
  static constexpr std::size_t kInlineBytes = 192;

  std::array<char, kInlineBytes> inline_;
  std::string longer_;
  std::string_view key_;
};

/// Returns the table id and the encoded PartitionKey: the prefix that all keys of the partition share.
Result<std::string> encode_partition(TableId table, std::string_view partition_key);
std::string encode_table(TableId table);

struct SortKey {
  TableId table = 0;
  std::string partition_key;
  std::string row_key;
};
/// Decodes a sort key. Errors: kCorruption. Accepts exactly the keys that encode_sort_key() produces.
Result<SortKey> decode_sort_key(std::string_view key);

/// Decodes a sequence of keys. If a key has the previous key's table and partition, as most keys do, they are not
/// decoded again.
class SortKeyDecoder {
 public:
  /// Decodes a key. Errors: see decode_sort_key().
  Status decode(std::string_view key) { return decode_row_alone(key) ? Status() : decode_all(key); }
  /// Does the same for a key of the last key's partition whose RowKey is its own encoding. Returns false for others, and
  /// changes nothing then. The key is known to begin with the first `shared` bytes of the last decoded one.
  bool decode_row_alone(std::string_view key, std::size_t shared = 0) noexcept {
    return decode_last_bytes(key, shared) || decode_row_whole(key);
  }

  // Return the texts of the last decoded key. They are valid until the next decode(), the RowKey also only as long as
  // the key's bytes: a RowKey that is its own encoding is not copied.
  const std::string& partition_key() const noexcept { return decoded_.partition_key; }
  std::string_view row_key() const noexcept { return row_key_; }

 private:
  Status decode_all(std::string_view key);
  bool decode_row_whole(std::string_view key) noexcept;
  /// Does decode_row_alone() if only the last eight bytes of the RowKey are perhaps not those of the last key.
  bool decode_last_bytes(std::string_view key, std::size_t shared) noexcept {
    const std::size_t known = std::min(shared, plain_bytes_);
    if (known == 0 || known < partition_.size() || known + kLastBytes < key.size()) return false;
    if (key.size() < partition_.size() + kLastBytes || key.back() != '\0') return false;
    if (!is_plain_word(load_u64(key.data() + key.size() - kLastBytes))) return false;
    plain_bytes_ = key.size() - 1;
    row_key_ = {key.data() + partition_.size(), plain_bytes_ - partition_.size()};
    return true;
  }
  /// The bytes of a RowKey's last word and its end.
  static constexpr std::size_t kLastBytes = sizeof(std::uint64_t) + 1;

  /// The last key's table id and PartitionKey, end byte included. Empty if no key is decoded.
  std::string partition_;
  /// The last key's bytes of partition_, and the plain ones after it. Zero if its RowKey is not plain.
  std::size_t plain_bytes_ = 0;
  SortKey decoded_;  // its RowKey only if that is not its own encoding
  std::string_view row_key_;
};

// The functions below read the frame of a key without decoding its texts. Check bytes from outside with is_framed()
// first.
bool is_framed(std::string_view key) noexcept;
TableId table_id_of(std::string_view key) noexcept;
/// Returns the table id and the PartitionKey, end byte included.
std::string_view partition_of(std::string_view key) noexcept;
/// Returns the hash that selects a partition's lock: XXH3-64 of partition_of(key).
std::uint64_t partition_hash(std::string_view partition) noexcept;
/// Returns the hash that selects a row's lock: XXH3-64 of the whole key.
std::uint64_t row_hash(std::string_view key) noexcept;

/// Returns the smallest byte string above every string that begins with `prefix`, or an empty string if there is none
/// (all FF).
std::string end_of_prefix(std::string_view prefix);

}  // namespace varve::format
