// Owns: UTF-8 in the service's order, and the keys that contain it (sort_key.h).
// Must never: accept a text that is not UTF-8. Two keys could then have one encoding, or an order that no reader knows.
//
// Most keys are ASCII, so every loop skips plain bytes eight at a time and reads single bytes only where it must.
// Well-formed UTF-8 is defined by the Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences".
#include "format/keys/sort_key.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/common_prefix.h"

namespace varve::format {
namespace {

using Byte = unsigned char;

constexpr char kEnd = 0x00;
constexpr char kEscape = 0x01;
constexpr char kEscapedEnd = 0x01;
constexpr char kEscapedEscape = 0x02;
/// The difference that lead bytes EE and EF get, so that they sort above F4.
constexpr Byte kLift = 0xF5 - 0xEE;

constexpr std::size_t kWordBytes = 8;
constexpr std::uint64_t kHighBits = 0x8080808080808080;

Byte at(std::string_view text, std::size_t index) noexcept {
  return static_cast<Byte>(text[index]);
}

bool is_ascii(std::uint64_t word) noexcept {
  return (word & kHighBits) == 0;
}
bool is_plain(Byte byte) noexcept {
  return byte >= 0x02 && byte < 0x80;
}
bool is_lifted(Byte lead) noexcept {
  return lead == 0xEE || lead == 0xEF;
}

/// Returns a word in which a byte's high bit is set if it is set in one of four words.
std::uint64_t four_words(const char* at) noexcept {
  return load_u64(at) | load_u64(at + kWordBytes) | load_u64(at + 2 * kWordBytes) | load_u64(at + 3 * kWordBytes);
}

/// Returns the index of the first byte at or after `index` that is not ASCII. With `PlainOnly`, bytes 00 and 01 end the
/// search too.
template <bool PlainOnly>
std::size_t skip_ascii(std::string_view text, std::size_t index) noexcept {
  const auto passes = [&text](std::size_t from) {
    const std::uint64_t word = load_u64(text.data() + from);
    return PlainOnly ? is_plain_word(word) : is_ascii(word);
  };
  while (!PlainOnly && text.size() - index >= 4 * kWordBytes && is_ascii(four_words(text.data() + index))) {
    index += 4 * kWordBytes;
  }
  while (text.size() - index >= kWordBytes && passes(index)) index += kWordBytes;
  // Reads the last few bytes as one word that overlaps bytes already checked.
  if (index < text.size() && text.size() - index < kWordBytes && text.size() >= kWordBytes &&
      passes(text.size() - kWordBytes)) {
    return text.size();
  }
  while (index < text.size() && (PlainOnly ? is_plain(at(text, index)) : at(text, index) < 0x80)) ++index;
  return index;
}

/// Returns whether `bytes` begin with `prefix`, which has at least one word and no more bytes than they.
bool begins_with_words(const char* bytes, std::string_view prefix) noexcept {
  const std::size_t last = prefix.size() - kWordBytes;
  for (std::size_t i = 0; i < last; i += kWordBytes) {
    if (load_u64(bytes + i) != load_u64(prefix.data() + i)) return false;
  }
  return load_u64(bytes + last) == load_u64(prefix.data() + last);
}

/// Copies the text and its end byte. Returns the address after them.
char* copy_ended(char* to, std::string_view text) noexcept {
  char* const end = std::copy(text.begin(), text.end(), to);
  *end = kEnd;
  return end + 1;
}

/// Returns the byte at `index` (lowest) and the three bytes after it. Bytes past the end are zero.
std::uint32_t four_bytes(std::string_view text, std::size_t index) noexcept {
  if (text.size() - index >= 4) return load_u32(text.data() + index);
  std::uint32_t four = 0;
  for (std::size_t i = text.size(); i > index; --i) four = four << 8 | at(text, i - 1);
  return four;
}

/// Returns the size in bytes of the character at `index`, or zero if the bytes are not a character. Zeros past the end
/// are not continuation bytes, so a truncated character needs no test of its own.
std::size_t character_bytes(std::string_view text, std::size_t index) noexcept {
  const std::uint32_t four = four_bytes(text, index);
  const std::uint32_t lead = four & 0xFF;
  const std::uint32_t second = four >> 8 & 0x3F;
  if (lead < 0x80) return 1;
  if ((four & 0x00C0E0) == 0x0080C0) return lead >= 0xC2 ? 2 : 0;  // C0 and C1 would be longer forms of ASCII
  if ((four & 0xC0C0F0) == 0x8080E0) {
    const std::uint32_t row = (lead & 0x0F) << 6 | second;  // the code point without its low six bits
    const bool surrogate = row >= 0xD800 >> 6 && row <= 0xDFFF >> 6;
    return row >= 0x0800 >> 6 && !surrogate ? 3 : 0;
  }
  if ((four & 0xC0C0C0F8) == 0x808080F0) {
    const std::uint32_t row = (lead & 0x07) << 6 | second;  // without its low twelve bits
    return row >= 0x10000 >> 12 && row <= 0x10FFFF >> 12 ? 4 : 0;
  }
  return 0;
}

bool is_continuation(Byte byte) noexcept {
  return (byte & 0xC0) == 0x80;
}

Status not_utf8(std::size_t index) {
  return Status::invalid_argument("the text is not valid UTF-8 at byte " + std::to_string(index));
}

/// Returns the bytes that replace the lead byte of a character that is not its own encoding, or an empty view for other
/// characters.
std::string_view changed_lead(Byte lead) noexcept {
  static constexpr std::array<char, 2> kZero = {kEscape, kEscapedEnd};
  static constexpr std::array<char, 2> kOne = {kEscape, kEscapedEscape};
  static constexpr std::array<char, 2> kLifted = {static_cast<char>(0xEE + kLift), static_cast<char>(0xEF + kLift)};
  switch (lead) {
    case 0x00: return {kZero.data(), kZero.size()};
    case 0x01: return {kOne.data(), kOne.size()};
    case 0xEE: return {kLifted.data(), 1};
    case 0xEF: return {kLifted.data() + 1, 1};
    default: return {};
  }
}

/// Removes one encoded text and its end byte from the front of `rest`, and decodes it.
bool decode_text(std::string_view& rest, std::string& text) {
  const std::size_t end = rest.find(kEnd);
  if (end == std::string_view::npos) return false;
  const std::string_view encoded = rest.substr(0, end);
  rest.remove_prefix(end + 1);

  text.clear();
  std::size_t index = skip_ascii<true>(encoded, 0);
  if (index == encoded.size()) {  // Most texts are ASCII and their own encoding.
    text.assign(encoded);
    return true;
  }
  text.reserve(encoded.size());
  std::size_t copied = 0;
  while (index < encoded.size()) {
    const Byte byte = at(encoded, index);
    if (is_plain(byte)) {
      index = skip_ascii<true>(encoded, index);
      continue;
    }
    if (is_lifted(byte)) return false;  // the encoder would have written F5 or F6
    const bool lifted = is_lifted(static_cast<Byte>(byte - kLift));
    if (!lifted && byte != kEscape) {
      ++index;
      continue;
    }
    text.append(encoded.substr(copied, index - copied));
    if (lifted) {
      text.push_back(static_cast<char>(byte - kLift));
    } else {
      if (++index == encoded.size()) return false;
      if (encoded[index] != kEscapedEnd && encoded[index] != kEscapedEscape) return false;
      text.push_back(static_cast<char>(encoded[index] - 1));
    }
    copied = ++index;
  }
  text.append(encoded.substr(copied));
  return is_valid_utf8(text);
}

Status damaged_key(std::string_view what) {
  return Status::corruption("sort key: " + std::string(what));
}

/// Removes the table id and the PartitionKey from the front of `rest`.
Status decode_partition(std::string_view& rest, SortKey& key) {
  if (rest.size() < kTableIdBytes) return damaged_key("is shorter than a table id");
  key.table = load_u64_big_endian(rest.data());
  rest.remove_prefix(kTableIdBytes);
  if (!decode_text(rest, key.partition_key)) return damaged_key("its PartitionKey is not an encoded text");
  return Status();
}

/// Removes the RowKey from `rest`, which must end with it.
Status decode_row(std::string_view& rest, SortKey& key) {
  if (!decode_text(rest, key.row_key)) return damaged_key("its RowKey is not an encoded text");
  if (!rest.empty()) return damaged_key("bytes follow its RowKey");
  return Status();
}

}  // namespace

bool is_plain(std::string_view text) noexcept {
  if (text.size() < kWordBytes) return skip_ascii<true>(text, 0) == text.size();
  const std::size_t last = text.size() - kWordBytes;  // of the words, which overlap at the end
  for (std::size_t i = 0; i < last; i += kWordBytes) {
    if (!is_plain_word(load_u64(text.data() + i))) return false;
  }
  return is_plain_word(load_u64(text.data() + last));
}

bool is_valid_utf8(std::string_view text) noexcept {
  std::size_t index = skip_ascii<false>(text, 0);
  while (index < text.size()) {
    const std::size_t length = character_bytes(text, index);
    if (length == 0) return false;
    index += length;
    // Texts in other scripts contain few runs of ASCII, so a run is searched only after an ASCII character.
    if (length == 1) index = skip_ascii<false>(text, index);
  }
  return true;
}

std::size_t utf16_length(std::string_view text) noexcept {
  std::size_t units = 0;
  std::size_t index = 0;
  for (; text.size() - index >= kWordBytes; index += kWordBytes) {
    const std::uint64_t word = load_u64(text.data() + index);
    units += kWordBytes;
    if (is_ascii(word)) continue;
    // Each byte's high bit is set for bytes that begin with 10 (no code unit), and for bytes that begin with 1111 (two
    // code units).
    const std::uint64_t continuation = word & ~(word << 1) & kHighBits;
    const std::uint64_t supplementary = word & (word << 1) & (word << 2) & (word << 3) & kHighBits;
    units -= static_cast<std::size_t>(std::popcount(continuation));
    units += static_cast<std::size_t>(std::popcount(supplementary));
  }
  for (; index < text.size(); ++index) {
    const Byte byte = at(text, index);
    if (!is_continuation(byte)) ++units;
    if (byte >= 0xF0) ++units;
  }
  return units;
}

int compare_text(std::string_view a, std::string_view b) noexcept {
  const std::size_t index = common_prefix(a, b);
  if (index == a.size() || index == b.size()) return (index < a.size() ? 1 : 0) - (index < b.size() ? 1 : 0);
  // The texts are equal up to here, so either both bytes are lead bytes or neither is.
  const auto ordered = [](Byte byte) { return is_lifted(byte) ? byte + kLift : int{byte}; };
  return ordered(at(a, index)) - ordered(at(b, index));
}

void append_table_id(std::string& out, TableId id) {
  std::array<char, kTableIdBytes> bytes;
  store_u64_big_endian(bytes.data(), id);
  out.append(bytes.data(), bytes.size());
}

Status append_text_prefix(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  std::size_t copied = 0;
  std::size_t index = skip_ascii<true>(text, 0);
  while (index < text.size()) {
    const std::size_t length = character_bytes(text, index);
    if (length == 0) {
      out.resize(start);
      return not_utf8(index);
    }
    if (const std::string_view changed = changed_lead(at(text, index)); !changed.empty()) {
      out.append(text.substr(copied, index - copied)).append(changed);
      copied = index + 1;
    }
    index += length;
    if (length == 1) index = skip_ascii<true>(text, index);
  }
  out.append(text.substr(copied));
  return Status();
}

Status append_text(std::string& out, std::string_view text) {
  if (Status appended = append_text_prefix(out, text); !appended.ok()) return appended;
  out.push_back(kEnd);
  return Status();
}

std::size_t sort_key_bytes(std::string_view partition_key, std::string_view row_key) noexcept {
  return kTableIdBytes + partition_key.size() + row_key.size() + 2;
}

Status append_sort_key(std::string& out, TableId table, std::string_view partition_key, std::string_view row_key) {
  append_table_id(out, table);
  if (Status appended = append_text(out, partition_key); !appended.ok()) return appended.in_file("PartitionKey");
  if (Status appended = append_text(out, row_key); !appended.ok()) return appended.in_file("RowKey");
  return Status();
}

Result<std::string> encode_sort_key(TableId table, std::string_view partition_key, std::string_view row_key) {
  std::string key;
  key.reserve(sort_key_bytes(partition_key, row_key));
  if (Status appended = append_sort_key(key, table, partition_key, row_key); !appended.ok()) return appended;
  return key;
}

void store_plain_sort_key(char* to, TableId table, std::string_view partition_key, std::string_view row_key) noexcept {
  store_u64_big_endian(to, table);
  char* const row = copy_ended(to + kTableIdBytes, partition_key);
  copy_ended(row, row_key);
}

Status SortKeyBuffer::encode(TableId table, std::string_view partition_key, std::string_view row_key) {
  key_ = {};
  const std::size_t bytes = sort_key_bytes(partition_key, row_key);
  if (bytes <= kInlineBytes && is_plain(partition_key) && is_plain(row_key)) {
    store_plain_sort_key(inline_.data(), table, partition_key, row_key);
    key_ = {inline_.data(), bytes};
    return Status();
  }
  longer_.clear();
  if (Status appended = append_sort_key(longer_, table, partition_key, row_key); !appended.ok()) return appended;
  key_ = longer_;
  return Status();
}

Result<std::string> encode_partition(TableId table, std::string_view partition_key) {
  std::string prefix;
  prefix.reserve(kTableIdBytes + partition_key.size() + 1);
  append_table_id(prefix, table);
  if (Status appended = append_text(prefix, partition_key); !appended.ok()) return appended.in_file("PartitionKey");
  return prefix;
}

std::string encode_table(TableId table) {
  std::string prefix;
  append_table_id(prefix, table);
  return prefix;
}

Result<SortKey> decode_sort_key(std::string_view key) {
  SortKey decoded;
  std::string_view rest = key;
  if (Status taken = decode_partition(rest, decoded); !taken.ok()) return taken;
  if (Status taken = decode_row(rest, decoded); !taken.ok()) return taken;
  return decoded;
}

bool SortKeyDecoder::decode_row_whole(std::string_view key) noexcept {
  const std::size_t partition_bytes = partition_.size();
  if (partition_bytes < kWordBytes || key.size() <= partition_bytes || key.back() != kEnd) return false;
  if (!begins_with_words(key.data(), partition_)) return false;
  const std::string_view row = key.substr(partition_bytes, key.size() - partition_bytes - 1);
  if (!is_plain(row)) return false;  // Plain bytes contain no end.
  row_key_ = row;
  plain_bytes_ = partition_bytes + row.size();
  return true;
}

Status SortKeyDecoder::decode_all(std::string_view key) {
  std::string_view rest = key;
  row_key_ = {};
  plain_bytes_ = 0;
  if (!partition_.empty() && key.starts_with(partition_)) {
    rest.remove_prefix(partition_.size());
  } else {
    partition_.clear();
    if (Status taken = decode_partition(rest, decoded_); !taken.ok()) return taken;
    partition_.assign(key.substr(0, key.size() - rest.size()));
  }
  if (decode_row_whole(key)) return Status();
  if (Status taken = decode_row(rest, decoded_); !taken.ok()) return taken;
  row_key_ = decoded_.row_key;
  return Status();
}

bool is_framed(std::string_view key) noexcept {
  if (key.size() < kTableIdBytes) return false;
  const std::size_t partition_end = key.find(kEnd, kTableIdBytes);
  if (partition_end == std::string_view::npos) return false;
  const std::size_t row_end = key.find(kEnd, partition_end + 1);
  return row_end != std::string_view::npos && row_end + 1 == key.size();
}

TableId table_id_of(std::string_view key) noexcept {
  assert(key.size() >= kTableIdBytes);
  return load_u64_big_endian(key.data());
}

std::string_view partition_of(std::string_view key) noexcept {
  const std::size_t end = key.find(kEnd, kTableIdBytes);
  assert(end != std::string_view::npos);
  return key.substr(0, end + 1);
}

std::uint64_t partition_hash(std::string_view partition) noexcept {
  return content_hash(partition);
}

std::uint64_t row_hash(std::string_view key) noexcept {
  return content_hash(key);
}

std::string end_of_prefix(std::string_view prefix) {
  while (!prefix.empty() && at(prefix, prefix.size() - 1) == 0xFF) prefix.remove_suffix(1);
  std::string end(prefix);
  if (!end.empty()) end.back() = static_cast<char>(at(end, end.size() - 1) + 1);
  return end;
}

}  // namespace varve::format
