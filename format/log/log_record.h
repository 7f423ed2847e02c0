// Owns: the frame of the records that are appended to a log segment or a manifest.
// Must never: follow a damaged length, or accept a record of another file, place or time.
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
// Tagged fields: 1 file number, 3 first version, 5 last version, 7 ceiling, 9 durable_upto, 11 manifest number, 13
// manifest bytes known durable, 15 start of the previous record in a log segment. A field with value zero is left out,
// except field 1.
//
// In a log segment, records that are written together are adjacent, and the write is filled with zeros to 4,096 bytes.
// If a reader finds only zeros up to the next multiple of 4,096, it continues there. A whole sector of zeros at the
// start of a write is the end. In a manifest, records are adjacent without filling.
//
// `durable_upto` distinguishes damage from a torn tail: it is the length of this file that was known durable when the
// record was written. If a valid record with durable_upto > x follows an invalid record at x, the record at x was once
// complete.
//
// `previous_offset` chains the records of a log segment. Without it, a reader could miss a lost record. Example: a
// record ends within a sector, and a later write puts the next record into the rest of that sector. If that rest is
// lost and reads as zeros, the record in the following sector would seem to be next. A record that does not name its
// predecessor's offset is therefore not the next one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes/checksum.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve::format {

enum class RecordType : std::uint8_t {
  kGroup = 1,         // commits; store_group_member() writes the payload
  kWatermark = 2,     // no payload: carries the durable marks and a ceiling
  kFooter = 3,        // ends a sealed segment; no record follows
  kManifestEdit = 4,  // payload: manifest_edit.h
};

struct RecordHeader {
  RecordType type = RecordType::kGroup;
  std::uint64_t file_number = 0;
  CommitVersion first_version = 0;
  CommitVersion last_version = 0;
  /// The greatest version that any reader may have seen before this record was durable.
  CommitVersion ceiling = 0;
  std::uint64_t durable_upto = 0;
  std::uint64_t manifest_number = 0;
  std::uint64_t manifest_durable_bytes = 0;
  /// The offset in bytes at which the previous record of the log segment starts. Zero for the first record, and in a
  /// manifest.
  std::uint64_t previous_offset = 0;
  /// Unknown even fields, byte for byte.
  std::string unknown_fields;

  bool operator==(const RecordHeader&) const = default;
};

inline constexpr std::size_t kRecordAlignment = 8;
inline constexpr std::size_t kRecordHeaderBytesMax = 512;
inline constexpr std::uint64_t kRecordPayloadBytesMax = 64u << 20;

/// Returns the size in bytes of the whole record, filling included.
std::size_t record_bytes(const RecordHeader& header, std::size_t payload_bytes) noexcept;
/// Limit in bytes of a log group's header that has no unknown fields.
inline constexpr std::size_t kGroupHeaderBytesMax = 16 + 8 * 12;

/// Frame a record in place without allocating. begin_record() stores the header at `at` and returns the address for the
/// payload. After the caller has stored the payload, seal_record() stores its checksum and the filling, and returns the
/// address after the record. `at` must have room for record_bytes().
char* begin_record(char* at, const RecordHeader& header, std::size_t payload_bytes, FilePlace place) noexcept;
char* seal_record(char* record, FilePlace place) noexcept;

/// Appends a whole record to `out`. `place` is the record's place in its file.
void append_record(std::string& out, const RecordHeader& header, std::string_view payload, FilePlace place);

enum class RecordOutcome : std::uint8_t {
  kRecord,       // verified
  kZeros,        // eight zero bytes, or the end of the bytes: no record begins
  kInvalid,      // bytes that do not verify
  kUnsupported,  // verified, but with a type or a field that this build must know and does not
};

struct Record {
  RecordHeader header;
  std::string_view payload;
  /// Size in bytes, from the record's start to the end of its filling.
  std::uint64_t size_bytes = 0;
};

/// Reads the record at `offset` of a file. `file` contains the file's bytes from its start. `why` is set for kInvalid
/// and kUnsupported. A length is used only after its checksum verified.
RecordOutcome read_record(std::string_view file, std::uint64_t offset, std::uint64_t seed, Record* record, Status* why);
/// Reads a record at the front of `bytes`, which are stored, or will be stored, at `place`.
RecordOutcome read_record_at(std::string_view bytes, FilePlace place, Record* record, Status* why);

/// Frames a verified record for another file and place. The payload is not hashed again.
void append_moved_record(std::string& out, std::string_view file, std::uint64_t offset, std::uint64_t seed,
                         const RecordHeader& new_header, FilePlace new_place);

// The payload of a group contains for each member: varint (version - first version), varint length, batch.
std::size_t group_member_bytes(CommitVersion first_version, CommitVersion version, std::size_t batch_bytes) noexcept;
char* store_group_member(char* at, CommitVersion first_version, CommitVersion version, std::string_view batch) noexcept;

struct GroupMember {
  CommitVersion version = 0;
  std::string_view batch;
};
/// Iterates over the members of a group. Checks that versions rise strictly from header.first_version to
/// header.last_version.
class GroupReader {
 public:
  GroupReader(const RecordHeader& header, std::string_view payload) noexcept
      : rest_(payload), first_(header.first_version), last_(header.last_version) {}
  /// Reads the next member. Returns false at the end. Errors: kCorruption.
  Result<bool> next(GroupMember* member);

 private:
  std::string_view rest_;
  CommitVersion first_;
  CommitVersion last_;
  CommitVersion previous_ = 0;
};

}  // namespace varve::format
