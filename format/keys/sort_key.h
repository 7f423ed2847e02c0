// Owns: the one order of all entities, as bytes.
// Must never: lose a character or map two keys to one; encoding is injective, and memcmp of encodings is the order of
// the table service (PartitionKey, then RowKey, each ordinal by UTF-16 code unit).
//
//   sort key = table id (8 bytes, big-endian) . text(PartitionKey) . text(RowKey)
//
// text(s) is the UTF-8 of s, changed in three ways, and a byte 00 at its end:
//   - lead bytes EE and EF (U+E000 to U+FFFF) are written F5 and F6, so that they sort above F0 to F4, the characters
//     that UTF-16 writes with surrogates D800 to DFFF;
//   - bytes 00 and 01 are written 01 01 and 01 02, so that 00 can end the text.
// Every table, partition, RowKey range and RowKey prefix is one contiguous range; a prefix range is an encoding without
// its end byte. The upper half of a table id is the account's number, so an account's tables are contiguous too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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
/// True of what begins the keys of a whole account or a whole table, by its length.
constexpr bool is_id_prefix(std::string_view key) noexcept {
  return key.size() == kAccountIdBytes || key.size() == kTableIdBytes;
}
/// 1,024 code units are at most 3,072 bytes of UTF-8; an end byte each.
inline constexpr std::size_t kSortKeyBytesMax = kTableIdBytes + 2 * 3073;

bool is_valid_utf8(std::string_view text) noexcept;
/// UTF-16 code units of valid UTF-8.
std::size_t utf16_length(std::string_view text) noexcept;
/// Less than, equal to or greater than zero: the order of the service on valid UTF-8 texts.
int compare_text(std::string_view a, std::string_view b) noexcept;

void append_table_id(std::string& out, TableId id);
/// text(s) with or without its end byte. Lengths are the caller's to limit. Errors: kInvalidArgument (not UTF-8; the
/// message says at which byte); `out` is as it was then.
Status append_text(std::string& out, std::string_view text);
Status append_text_prefix(std::string& out, std::string_view text);

/// Errors: as append_text(); `out` is longer by a part of the key then.
Status append_sort_key(std::string& out, TableId table, std::string_view partition_key, std::string_view row_key);
/// Of a key whose texts hold no bytes 0 and 1, which are encoded as two.
std::size_t sort_key_bytes(std::string_view partition_key, std::string_view row_key) noexcept;
Result<std::string> encode_sort_key(TableId table, std::string_view partition_key, std::string_view row_key);

/// The sort key of one read, in room that ordinary keys fit, so that none is asked of the system.
class SortKeyBuffer {
 public:
  SortKeyBuffer() noexcept = default;  // leaves the inline room as it is: nothing reads it before it is written
  SortKeyBuffer(const SortKeyBuffer&) = delete;
  SortKeyBuffer& operator=(const SortKeyBuffer&) = delete;

  /// Errors: as append_text(); the key is empty then.
  Status encode(TableId table, std::string_view partition_key, std::string_view row_key);
  std::string_view key() const noexcept { return key_; }

 private:
  static constexpr std::size_t kInlineBytes = 192;

  std::array<char, kInlineBytes> inline_;
  std::string longer_;
  std::string_view key_;
};

/// Table id and PartitionKey: the prefix that all keys of the partition share.
Result<std::string> encode_partition(TableId table, std::string_view partition_key);
std::string encode_table(TableId table);

struct SortKey {
  TableId table = 0;
  std::string partition_key;
  std::string row_key;
};
/// Errors: kCorruption. Accepts exactly what encode_sort_key makes.
Result<SortKey> decode_sort_key(std::string_view key);

/// Decodes keys one after the other. What a key has in common with the one before, mostly its table and its partition,
/// is not decoded again.
class SortKeyDecoder {
 public:
  /// Errors: as decode_sort_key().
  Status decode(std::string_view key);

  // Of the last key that decode() took, until its next call.
  const std::string& partition_key() const noexcept { return decoded_.partition_key; }
  const std::string& row_key() const noexcept { return decoded_.row_key; }

 private:
  /// Of the last key: table id and PartitionKey, end byte included. Empty: nothing is decoded.
  std::string partition_;
  SortKey decoded_;
};

// The frame of a key, without decoding its texts. On bytes from outside, check with is_framed first.
/// Eight bytes, and two ended texts that fill the rest.
bool is_framed(std::string_view key) noexcept;
TableId table_id_of(std::string_view key) noexcept;
/// Table id and PartitionKey, end byte included.
std::string_view partition_of(std::string_view key) noexcept;
/// The hash by which a partition is locked: XXH3-64 of partition_of(key).
std::uint64_t partition_hash(std::string_view partition) noexcept;

/// The smallest byte string above every string that begins with `prefix`; empty when there is none (all FF).
std::string end_of_prefix(std::string_view prefix);

}  // namespace varve::format
