// Owns: the frame around what is appended to a log segment or a manifest.
// Must never: let a damaged length be followed, or a record of another file, place or time read as its own.
//
// A record starts at a multiple of 8 bytes:
//   offset size
//        0    8  checksum of bytes 8 to h-1 at (seed, record offset)
//        8    2  h, bytes of the header, 16 to 512
//       10    1  record type
//       11    1  zero
//       12    4  p, bytes of the payload
//       16  h-16 tagged fields
//        h    p  payload
//      h+p    8  checksum of the payload at (seed, record offset + h)
//    h+p+8   0-7 zeros, to a multiple of 8
//
// Tagged fields: 1 file number, 3 first version, 5 last version, 7 ceiling, 9 durable_upto, 11 manifest number,
// 13 manifest bytes known durable, 15 where the record before it in a log segment starts. Zero values are left out, but
// for 1.
//
// In a log segment, records written together follow one another and the write is filled with zeros to 4,096 bytes; a
// reader that finds only zeros up to the next multiple of 4,096 goes on there, and a whole zero sector where a write
// would begin is the end. In a manifest records follow one another without filling.
//
// `durable_upto` tells damage from a torn tail: it is how much of this file was known durable when the record was
// written. After an invalid record at x, a later valid one with durable_upto > x proves that x was once whole.
//
// `previous_offset` chains the records of a log segment. Without it a reader could pass over a lost record: where one
// ended within a sector, and the rest of that sector (which held the next one, written later) was lost and reads as
// zeros, the record in the sector behind would seem to follow. A record that does not name the one before it is not the
// next one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes/checksum.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve::format {

enum class RecordType : std::uint8_t {
  kGroup = 1,         // commits; payload by store_group_member
  kWatermark = 2,     // no payload: carries marks and a ceiling
  kFooter = 3,        // ends a sealed segment; no record follows
  kManifestEdit = 4,  // payload: manifest_edit.h
};

struct RecordHeader {
  RecordType type = RecordType::kGroup;
  std::uint64_t file_number = 0;
  CommitVersion first_version = 0;
  CommitVersion last_version = 0;
  /// No version above it was shown to anybody before this record was durable.
  CommitVersion ceiling = 0;
  std::uint64_t durable_upto = 0;
  std::uint64_t manifest_number = 0;
  std::uint64_t manifest_durable_bytes = 0;
  /// Where the record before this one starts in the log segment; zero for the first, and in a manifest.
  std::uint64_t previous_offset = 0;
  /// Unknown even fields, as they stood.
  std::string unknown_fields;

  bool operator==(const RecordHeader&) const = default;
};

inline constexpr std::size_t kRecordAlignment = 8;
inline constexpr std::size_t kRecordHeaderBytesMax = 512;
inline constexpr std::uint64_t kRecordPayloadBytesMax = 64u << 20;

/// Bytes of the whole record, filling included.
std::size_t record_bytes(const RecordHeader& header, std::size_t payload_bytes) noexcept;
/// No header of a log group without unknown fields takes more.
inline constexpr std::size_t kGroupHeaderBytesMax = 16 + 8 * 12;

/// Frames in place, allocating nothing: header bytes are stored at `at`, which returns where the payload belongs; when
/// the payload stands there, seal_record stores its checksum and the filling and returns the place behind the record.
/// `at` must have room for record_bytes().
char* begin_record(char* at, const RecordHeader& header, std::size_t payload_bytes, FilePlace place) noexcept;
char* seal_record(char* record, FilePlace place) noexcept;

/// The whole record appended to `out`, for a place in the file that `place` names.
void append_record(std::string& out, const RecordHeader& header, std::string_view payload, FilePlace place);

enum class RecordOutcome : std::uint8_t {
  kRecord,       // verified
  kZeros,        // eight zero bytes or the end of the bytes stand here: no record begins
  kInvalid,      // something stands here that does not verify
  kUnsupported,  // verified, and of a kind or with a field this build must know and does not
};

struct Record {
  RecordHeader header;
  std::string_view payload;
  /// From the record's start to behind its filling.
  std::uint64_t size_bytes = 0;
};

/// Reads the record at `offset` of a file whose bytes from its start are `file`. `why` is set for kInvalid and
/// kUnsupported. Bounded: follows no length before its checksum held.
RecordOutcome read_record(std::string_view file, std::uint64_t offset, std::uint64_t seed, Record* record, Status* why);
/// The same for a record at the front of `bytes`, which stand, or shall stand, at `place`.
RecordOutcome read_record_at(std::string_view bytes, FilePlace place, Record* record, Status* why);

/// Re-frames a verified record for another file and place, hashing the payload no second time.
void append_moved_record(std::string& out, std::string_view file, std::uint64_t offset, std::uint64_t seed,
                         const RecordHeader& new_header, FilePlace new_place);

// The payload of a group: for each member varint (version - first version), varint length, batch.
std::size_t group_member_bytes(CommitVersion first_version, CommitVersion version, std::size_t batch_bytes) noexcept;
char* store_group_member(char* at, CommitVersion first_version, CommitVersion version, std::string_view batch) noexcept;

struct GroupMember {
  CommitVersion version = 0;
  std::string_view batch;
};
/// Walks the members of a group; checks that versions rise strictly from header.first_version to header.last_version.
class GroupReader {
 public:
  GroupReader(const RecordHeader& header, std::string_view payload) noexcept
      : rest_(payload), first_(header.first_version), last_(header.last_version) {}
  /// False at the end. Errors: kCorruption.
  Result<bool> next(GroupMember* member);

 private:
  std::string_view rest_;
  CommitVersion first_;
  CommitVersion last_;
  CommitVersion previous_ = 0;
};

}  // namespace varve::format
