// Owns: the rows of contents: their keys, their bytes with hashes, and the count of their owners.
// Must never: give out a byte that was not compared with its hash.
//
// All contents of an account are rows of one id of the account. A content has a number, drawn from the version clock.
//
//   row     first part   second part                    properties
//   head    K, content   empty                          Kind (Int32: 0 plain, 1 list, 2 growing, 3 value), Owners
//                                                       (Int32), Length (Int64; not of a growing content), optionally Crc
//                                                       (Int64: CRC-64 of all bytes; of a plain content of this
//                                                       build, and of a value, unless a repair wrote the head, and a part
//                                                       is damaged)
//   part    K, content   offset of its first byte       Hashes, Bytes (Binary); or if it is packed: Hashes, Packed (Binary),
//                                                       Size (Int32)
//
// Parts of a plain content, and of a value, begin at multiples of 1 MiB. Those of a growing content are as they were
// appended, of 1 MiB at most. Those of a list are blocks: entries of 24 bytes (offset in the blob, number of the content,
// length; little-endian) and the block's id; a part has 1,024 entries, and its offset counts entries. Hashes begins with a
// hash of the part's place, its length and the other hashes; these are the XXH3-64 of each 64 KiB of Bytes.
//
// Each part of a plain content may be packed: Packed is a zstd frame of its bytes, and Size is their number. Hashes is then
// that of Packed, and its first hash covers Size too. A build that knows no packed parts refuses them.
//
// An owner is a blob, a staged block, or an entry of a list; of a value, it is a property of an entity, and nothing else. A
// content without a head is being written (work_rows.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/catalog/container_rows.h"
#include "api/model/stored_row.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve {

using ContentId = std::uint64_t;

/// Bytes of a part of a plain content, and the most of any part.
inline constexpr std::size_t kPartBytes = std::size_t{1} << 20;
/// Bytes that one hash covers.
inline constexpr std::size_t kHashedBytes = std::size_t{64} << 10;
/// One of the numbers by which contents are stored; FORMAT.md has them.
enum class ContentKind : std::uint8_t {
  kPlain = 0,
  kList = 1,
  kGrowing = 2,
  /// The content of large values of entities.
  kValue = 3,
};

std::string content_head_key(format::TableId contents, ContentId content);
std::string content_part_key(format::TableId contents, ContentId content, std::uint64_t offset);
/// Returns the common prefix of the keys of all rows of a content.
std::string content_prefix(format::TableId contents, ContentId content);

/// The content of a key: its number, and the offset of a part. The head has none.
struct ContentPlace {
  ContentId content = 0;
  std::optional<std::uint64_t> offset;
};
/// Errors: kCorruption.
Result<ContentPlace> decode_content_key(std::string_view key);

struct ContentHead {
  ContentKind kind = ContentKind::kPlain;
  std::uint32_t owners = 1;
  /// Bytes; of a list, entries. Zero for a growing content.
  std::uint64_t length = 0;
  std::optional<std::uint64_t> crc64{};
};
std::string encode_content_head(const ContentHead& head);
/// Errors: kCorruption, kUnsupported.
Result<ContentHead> decode_content_head(std::string_view value);

/// Builds a part. The place is hashed with it, so that another part cannot take its place.
std::string encode_part(ContentId content, std::uint64_t offset, std::string_view bytes);

/// Begins a batch that only puts a part of kPartBytes bytes, in the memory of `room`. The caller appends the bytes, and then
/// end_part_batch() adds their hashes. So a part is copied no further before its commit.
std::string begin_part_batch(std::string room, format::TableId contents, ContentId content, std::uint64_t offset);
void end_part_batch(std::string& batch, ContentId content, std::uint64_t offset);

/// The bytes at the beginning of a stored part of `bytes` bytes, before its bytes.
std::size_t part_head_bytes(std::size_t bytes) noexcept;
/// Returns the number of bytes of a part whose stored form has this size, or nothing.
std::optional<std::size_t> part_bytes_of(std::uint64_t stored) noexcept;

/// The hashes of a part, checked. The views point into the head's bytes.
class PartHead {
 public:
  /// `head` is at least part_head_bytes(bytes) long. Errors: kCorruption.
  static Result<PartHead> open(ContentId content, std::uint64_t offset, std::size_t bytes, std::string_view head);
  /// Compares bytes that begin at a multiple of kHashedBytes of the part, and end at one or at the part's end. Errors:
  /// kCorruption.
  Status check(std::size_t begin, std::string_view bytes) const;

 private:
  std::string_view hashes_;
};

/// Returns the bytes of a whole stored part that is not packed, compared. Errors: kCorruption, kUnsupported. Valid as long
/// as `value`.
Result<std::string_view> decode_part(ContentId content, std::uint64_t offset, std::string_view value);

/// One block of a list.
struct ListEntry {
  /// Where it begins in the blob.
  std::uint64_t offset = 0;
  ContentId content = 0;
  std::uint64_t length = 0;
  std::string id;
};
inline constexpr std::size_t kListEntriesOfPart = 1024;
/// Builds a packed part, or returns nothing if its frame would have more than `packed_max` bytes. `bytes` is not empty.
std::optional<std::string> encode_packed_part(ContentId content, std::uint64_t offset, std::string_view bytes,
                                              std::size_t packed_max);
/// Returns whether a stored part is packed. Its first 4 bytes suffice.
bool is_packed_part(std::string_view value) noexcept;
/// Returns the bytes of a whole stored part, packed or not, compared. Errors: as decode_part(). Valid as long as `value` and
/// `room`, which gets the bytes of a packed part.
Result<std::string_view> decode_any_part(ContentId content, std::uint64_t offset, std::string_view value,
                                         std::string& room);

/// Encodes entries whose ids have one length. Decodes them; errors: kCorruption.
std::string encode_list_entries(std::span<const ListEntry> entries);
Result<std::vector<ListEntry>> decode_list_entries(std::string_view bytes);

}  // namespace varve
