// Owns: framing, reading and moving records, and the members of a group (log_record.h).
// Must never: use a length before its checksum verified, or allocate while framing in place.
#include "format/log/log_record.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/ordered_fields.h"

namespace varve::format {
namespace {

constexpr std::size_t kHeaderSizeAt = 8;
constexpr std::size_t kRecordTypeAt = 10;
constexpr std::size_t kZeroAt = 11;
constexpr std::size_t kPayloadSizeAt = 12;
constexpr std::size_t kFieldsAt = 16;
static_assert(kPayloadSizeAt + 4 == kFieldsAt);
static_assert(kRecordPayloadBytesMax <= std::numeric_limits<std::uint32_t>::max());

constexpr Tag kFileNumberTag = 1;
constexpr Tag kFirstVersionTag = 3;
constexpr Tag kLastVersionTag = 5;
constexpr Tag kCeilingTag = 7;
constexpr Tag kDurableUptoTag = 9;
constexpr Tag kManifestNumberTag = 11;
constexpr Tag kManifestDurableTag = 13;
constexpr Tag kPreviousOffsetTag = 15;

struct NumberField {
  Tag tag;
  std::uint64_t value;
  bool stands() const noexcept { return value != 0 || tag == kFileNumberTag; }
};

std::array<NumberField, 8> number_fields(const RecordHeader& header) noexcept {
  return {{{kFileNumberTag, header.file_number},
           {kFirstVersionTag, header.first_version},
           {kLastVersionTag, header.last_version},
           {kCeilingTag, header.ceiling},
           {kDurableUptoTag, header.durable_upto},
           {kManifestNumberTag, header.manifest_number},
           {kManifestDurableTag, header.manifest_durable_bytes},
           {kPreviousOffsetTag, header.previous_offset}}};
}

std::size_t header_bytes(const RecordHeader& header) noexcept {
  std::size_t bytes = kFieldsAt + header.unknown_fields.size();
  for (const NumberField& field : number_fields(header)) {
    if (field.stands()) bytes += number_field_bytes(field.tag, field.value);
  }
  return bytes;
}

char* store_bytes(char* at, std::string_view bytes) noexcept {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

char* store_fields(char* at, const RecordHeader& header) noexcept {
  const bool has_unknown = !header.unknown_fields.empty();  // only in records that are moved
  KeptFields kept(header.unknown_fields);
  for (const NumberField& field : number_fields(header)) {
    if (!field.stands()) continue;
    if (has_unknown) at = store_bytes(at, kept.below(field.tag));
    at = store_number_field(at, field.tag, field.value);
  }
  return store_bytes(at, kept.rest());
}

constexpr std::size_t filling_bytes(std::size_t unfilled) noexcept {
  return (kRecordAlignment - unfilled % kRecordAlignment) % kRecordAlignment;
}

/// The sizes of a record's parts in bytes, after both checksums verified.
struct Frame {
  std::size_t header_bytes = 0;
  std::size_t payload_bytes = 0;
  std::size_t size_bytes = 0;
};

/// Verifies everything in a record except the meaning of its header. `rest` begins at the record.
Status check_frame(std::string_view rest, FilePlace place, Frame* frame) {
  if (rest.size() < kFieldsAt) return Status::corruption("log record: the file ends inside its header");
  const std::size_t header = load_u16(rest.data() + kHeaderSizeAt);
  if (header < kFieldsAt || header > kRecordHeaderBytesMax || header > rest.size()) {
    return Status::corruption("log record: header does not verify (its size is " + std::to_string(header) + ")");
  }
  const std::string_view covered = rest.substr(kChecksumBytes, header - kChecksumBytes);
  if (load_u64(rest.data()) != checksum_at(place, covered)) {
    return Status::corruption("log record: header does not verify");
  }

  // The checksum covers the sizes, so they are the writer's. They are checked against the limits and the file all the
  // same.
  const std::size_t payload = load_u32(rest.data() + kPayloadSizeAt);
  if (payload > kRecordPayloadBytesMax) {
    return Status::corruption("log record: payload of " + std::to_string(payload) + " bytes is over the limit of " +
                              std::to_string(kRecordPayloadBytesMax));
  }
  const std::size_t unfilled = header + payload + kChecksumBytes;
  const std::size_t size = unfilled + filling_bytes(unfilled);
  if (size > rest.size()) {
    return Status::corruption("log record: has " + std::to_string(size) + " bytes, but only " +
                              std::to_string(rest.size()) + " are left in the file");
  }
  const FilePlace payload_place{place.seed, place.offset + header};
  if (load_u64(rest.data() + header + payload) != checksum_at(payload_place, rest.substr(header, payload))) {
    return Status::corruption("log record: payload does not verify");
  }
  if (find_first_written(rest.substr(unfilled, size - unfilled)) != std::string_view::npos) {
    return Status::corruption("log record: filling after the record is not zero");
  }
  *frame = Frame{header, payload, size};
  return Status();
}

Status decode_fields(std::string_view fields, RecordHeader* header) {
  OrderedFieldReader reader("log record header", fields);
  reader.require_number(kFileNumberTag, &header->file_number);
  reader.number_unless_zero(kFirstVersionTag, &header->first_version);
  reader.number_unless_zero(kLastVersionTag, &header->last_version);
  reader.number_unless_zero(kCeilingTag, &header->ceiling);
  reader.number_unless_zero(kDurableUptoTag, &header->durable_upto);
  reader.number_unless_zero(kManifestNumberTag, &header->manifest_number);
  reader.number_unless_zero(kManifestDurableTag, &header->manifest_durable_bytes);
  reader.number_unless_zero(kPreviousOffsetTag, &header->previous_offset);
  if (Status fields_read = reader.finish(&header->unknown_fields); !fields_read.ok()) return fields_read;
  for (const CommitVersion version : {header->first_version, header->last_version, header->ceiling}) {
    if (version > kCommitVersionMax) {
      return Status::corruption("log record header: a version is above the greatest commit version");
    }
  }
  return Status();
}

/// Decodes the header of a verified frame.
Status decode_header(std::string_view rest, const Frame& frame, RecordHeader* header) {
  const std::uint8_t type = static_cast<std::uint8_t>(rest[kRecordTypeAt]);
  switch (static_cast<RecordType>(type)) {
    case RecordType::kGroup:
    case RecordType::kManifestEdit: break;
    case RecordType::kWatermark:
    case RecordType::kFooter:
      if (frame.payload_bytes != 0) return Status::corruption("log record: has a payload, but its type has none");
      break;
    default: return Status::unsupported("log record of type " + std::to_string(type) + " is not known to this build");
  }
  if (rest[kZeroAt] != 0) return Status::unsupported("log record: flags at byte 11 are not known to this build");
  header->type = static_cast<RecordType>(type);
  return decode_fields(rest.substr(kFieldsAt, frame.header_bytes - kFieldsAt), header);
}

}  // namespace

std::size_t record_bytes(const RecordHeader& header, std::size_t payload_bytes) noexcept {
  const std::size_t unfilled = header_bytes(header) + payload_bytes + kChecksumBytes;
  return unfilled + filling_bytes(unfilled);
}

char* begin_record(char* at, const RecordHeader& header, std::size_t payload_bytes, FilePlace place) noexcept {
  assert(payload_bytes <= kRecordPayloadBytesMax);
  assert(place.offset % kRecordAlignment == 0);

  char* const payload = store_fields(at + kFieldsAt, header);
  const auto size = static_cast<std::size_t>(payload - at);
  assert(size <= kRecordHeaderBytesMax);
  store_u16(at + kHeaderSizeAt, static_cast<std::uint16_t>(size));
  at[kRecordTypeAt] = static_cast<char>(header.type);
  at[kZeroAt] = 0;
  store_u32(at + kPayloadSizeAt, static_cast<std::uint32_t>(payload_bytes));
  store_u64(at, checksum_at(place, {at + kChecksumBytes, size - kChecksumBytes}));
  return payload;
}

char* seal_record(char* record, FilePlace place) noexcept {
  const std::size_t header = load_u16(record + kHeaderSizeAt);
  const std::size_t payload = load_u32(record + kPayloadSizeAt);
  assert(header >= kFieldsAt && header <= kRecordHeaderBytesMax);
  assert(payload <= kRecordPayloadBytesMax);

  char* const checksum = record + header + payload;
  store_u64(checksum, checksum_at({place.seed, place.offset + header}, {record + header, payload}));
  const std::size_t filling = filling_bytes(header + payload + kChecksumBytes);
  std::memset(checksum + kChecksumBytes, 0, filling);
  return checksum + kChecksumBytes + filling;
}

void append_record(std::string& out, const RecordHeader& header, std::string_view payload, FilePlace place) {
  const std::size_t start = out.size();
  out.resize(start + record_bytes(header, payload.size()));
  char* const record = out.data() + start;
  store_bytes(begin_record(record, header, payload.size(), place), payload);
  const char* const end = seal_record(record, place);
  assert(end == out.data() + out.size());
}

RecordOutcome read_record(std::string_view file, std::uint64_t offset, std::uint64_t seed, Record* record,
                          Status* why) {
  return read_record_at(file.substr(std::min<std::uint64_t>(offset, file.size())), {seed, offset}, record, why);
}

RecordOutcome read_record_at(std::string_view bytes, FilePlace place, Record* record, Status* why) {
  if (find_first_written(bytes.substr(0, kChecksumBytes)) == std::string_view::npos) return RecordOutcome::kZeros;
  if (place.offset % kRecordAlignment != 0) {
    *why = Status::corruption("log record: its offset is not a multiple of 8");
    return RecordOutcome::kInvalid;
  }

  Frame frame;
  RecordHeader header;
  Status checked = check_frame(bytes, place, &frame);
  if (checked.ok()) checked = decode_header(bytes, frame, &header);
  if (!checked.ok()) {
    *why = checked;
    return checked.code() == Code::kUnsupported ? RecordOutcome::kUnsupported : RecordOutcome::kInvalid;
  }
  record->header = std::move(header);
  record->payload = bytes.substr(frame.header_bytes, frame.payload_bytes);
  record->size_bytes = frame.size_bytes;
  return RecordOutcome::kRecord;
}

void append_moved_record(std::string& out, std::string_view file, std::uint64_t offset, std::uint64_t seed,
                         const RecordHeader& new_header, FilePlace new_place) {
  const std::string_view old = file.substr(offset);
  const std::size_t old_header = load_u16(old.data() + kHeaderSizeAt);
  const std::size_t payload = load_u32(old.data() + kPayloadSizeAt);
  assert(old_header >= kFieldsAt && old_header + payload + kChecksumBytes <= old.size());

  const std::size_t start = out.size();
  out.resize(start + record_bytes(new_header, payload));
  char* const new_payload = begin_record(out.data() + start, new_header, payload, new_place);
  char* const checksum = store_bytes(new_payload, old.substr(old_header, payload));
  const std::size_t header = static_cast<std::size_t>(new_payload - (out.data() + start));
  const FilePlace from{seed, offset + old_header};
  const FilePlace to{new_place.seed, new_place.offset + header};
  store_u64(checksum, restamp(load_u64(old.data() + old_header + payload), from, to));
  // The filling is already zero, because resize() writes zeros.
}

std::size_t group_member_bytes(CommitVersion first_version, CommitVersion version, std::size_t batch_bytes) noexcept {
  return varint_bytes(version - first_version) + varint_bytes(batch_bytes) + batch_bytes;
}

char* store_group_member(char* at, CommitVersion first_version, CommitVersion version,
                         std::string_view batch) noexcept {
  assert(version >= first_version);
  at = store_varint(at, version - first_version);
  at = store_varint(at, batch.size());
  return store_bytes(at, batch);
}

Result<bool> GroupReader::next(GroupMember* member) {
  if (rest_.empty()) {
    if (previous_ != last_ || last_ == 0) return Status::corruption("group: ends before its last version");
    return false;
  }
  ByteReader reader(rest_);
  std::uint64_t delta = 0;
  std::string_view batch;
  if (!reader.read_varint(&delta) || !reader.read_sized(&batch)) {
    return Status::corruption("group: a member runs past its end");
  }
  if (last_ < first_ || delta > last_ - first_) return Status::corruption("group: a version is above its last version");
  const CommitVersion version = first_ + delta;
  // A version is never zero, so previous_ is zero until the first member is read.
  const bool in_order = previous_ == 0 ? delta == 0 && version != 0 : version > previous_;
  if (!in_order) return Status::corruption("group: versions do not rise from its first version");
  previous_ = version;
  rest_ = reader.rest();
  member->version = version;
  member->batch = batch;
  return true;
}

}  // namespace varve::format
