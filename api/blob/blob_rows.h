// Owns: the rows of a container's blobs: their keys and their content.
// Must never: place two blobs under one key, or order names otherwise than by their UTF-8 bytes.
//
//   row            first part      second part   properties
//   blob           B, name         empty         Kind (Int32: 0 block, 1 append, 2 append with lists), Length (Int64);
//                                                all others only if set: Inline (Binary: the content), Content (Binary:
//                                                numbers and lengths of contents, 8 bytes each, little-endian), List
//                                                (Boolean: the content is a list), Lists (Int32, always of kind 2: so many
//                                                of the first contents are lists, and not the last one), Crc, Created,
//                                                Changed (Int64), ContentType, ContentEncoding,
//                                                ContentLanguage, ContentDisposition, CacheControl (String), ContentMd5
//                                                (Binary), Tags (String), Tier (Int32), TierChanged (DateTime), Appends
//                                                (Int32), CopySource (String), CopyId (Guid), Copied (DateTime), metadata
//                                                (metadata_rows.h), lease (lease.h)
//   staged list    H, name         empty         Generation (Int64), Count, IdBytes (Int32), Last (DateTime)
//   staged block   U, generation   block id      Content, Length (Int64), optionally Crc (Int64)
//
// A block id is written as base64. Created and Changed are versions of commits. They are absent while they equal the
// version of the row. Changed is that of the ETag.
//
// Sort keys order texts by UTF-16 code units, so characters from U+10000 on sort below U+E000. Names are ordered by UTF-8
// bytes. So in a key U+FFFF goes before each character from U+10000 on, and U+FFFF itself is written as U+FFFF and `!`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/blob/content_rows.h"
#include "api/catalog/lease.h"
#include "api/model/stored_row.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// A content of 1 byte to this is in the row of its blob. It is below the size from which on values may stay in a value
/// file, so that reading the row stays cheap (BX-05).
inline constexpr std::size_t kInlineBytesMax = 16 * 1024 - 1;

// Names are UTF-8.
std::string blob_row_key(format::TableId container, std::string_view name);
std::string staged_list_key(format::TableId container, std::string_view name);
std::string staged_block_key(format::TableId container, std::uint64_t generation, std::string_view id);
/// The common prefix of the keys of all blobs, or staged lists (`kind` is B or H), whose names begin with `prefix`.
std::string named_rows_prefix(format::TableId container, char kind, std::string_view prefix);
std::string staged_blocks_prefix(format::TableId container, std::uint64_t generation);

/// Returns the kind of a row: the first letter of its key, or 0.
char blob_row_kind(std::string_view key) noexcept;
/// Return the name of a key of kind B or H, and the id of a staged block. Errors: kCorruption.
Result<std::string> decode_named_key(std::string_view key);
Result<std::string> decode_staged_key(std::string_view key);
/// A content, or the beginning of one, that a blob consists of.
struct ContentPiece {
  ContentId content = 0;
  std::uint64_t length = 0;
  bool operator==(const ContentPiece&) const = default;
};

struct BlobRow {
  BlobKind kind = BlobKind::kBlock;
  std::uint64_t length = 0;
  /// The content, if it lies in the row.
  std::string inlined;
  /// Else the contents that it consists of, in order. Only an append blob has several.
  std::vector<ContentPiece> pieces;
  bool is_list = false;
  /// So many of the first pieces of an append blob are lists of contents that were appended.
  std::uint32_t lists = 0;
  std::optional<std::uint64_t> crc64;
  /// Zero means the version of the row that is being written.
  format::CommitVersion created = 0;
  format::CommitVersion changed = 0;
  BlobProperties properties;
  std::vector<MetadataPair> metadata;
  std::vector<BlobTag> tags;
  BlobTier tier = BlobTier::kDefault;
  Ticks tier_changed = 0;
  std::uint32_t appends = 0;
  std::string copy_source;
  Guid copy_id;
  Ticks copied = 0;
  Lease lease;
};

struct StagedList {
  std::uint64_t generation = 0;
  std::uint32_t count = 0;
  std::uint32_t id_bytes = 0;
  Ticks last = 0;
};

struct StagedBlock {
  ContentPiece piece;
  std::optional<std::uint64_t> crc64{};
  bool operator==(const StagedBlock&) const = default;
};

std::string encode_blob_row(const BlobRow& row);
// `version` is the commit that wrote `value`. Errors: kCorruption, kUnsupported.
Result<BlobRow> decode_blob_row(format::CommitVersion version, std::string_view value);
std::string encode_staged_list(const StagedList& list);
Result<StagedList> decode_staged_list(std::string_view value);
std::string encode_staged_block(const StagedBlock& block);
Result<StagedBlock> decode_staged_block(std::string_view value);

/// The state that a row describes at a time. `version` is that of the row, or zero if it is not known yet.
BlobState state_of(std::string_view name, const BlobRow& row, format::CommitVersion version, Ticks now);
/// Completes a state that was made before the version was known. It allocates nothing.
void complete_state(BlobState& state, format::CommitVersion version) noexcept;

}  // namespace varve
