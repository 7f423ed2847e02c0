// Owns: reading a segment, and the decision about its end (segment_reader.h).
// Must never: read a record's payload before both its checksums verified, which format::read_record() ensures.
#include "engine/recovery/segment_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/log/log_files.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "io/aligned_buffer.h"
#include "io/probe.h"

namespace varve::engine {
namespace {

using format::RecordOutcome;

bool all_zero(std::string_view bytes) noexcept {
  return format::find_first_written(bytes) == std::string_view::npos;
}

/// Returns the bytes [begin, end) of `bytes`, or as many of them as exist.
std::string_view part(std::string_view bytes, std::uint64_t begin, std::uint64_t end) noexcept {
  begin = std::min<std::uint64_t>(begin, bytes.size());
  return bytes.substr(begin, std::min<std::uint64_t>(end, bytes.size()) - begin);
}

}  // namespace

/// What verified records after a place prove about that place.
struct SegmentReader::Evidence {
  std::uint64_t durable_upto = 0;
  /// The place of the first of them, and the end of the last. Zero if there is none.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  /// True if the predecessor of one of them began between the last accepted record and the place.
  bool lost_before = false;
};

SegmentReader::SegmentReader(const LiveSegment& segment, FileImage image, std::vector<BufferedBytes> slots,
                             LogReplay& replay)
    : segment_(segment),
      image_(std::move(image)),
      slots_(std::move(slots)),
      replay_(replay),
      last_end_(kFirstRecordOffset) {}

NamedFile SegmentReader::name() const {
  return format::named_file(format::FileType::kLogSegment, segment_.number);
}

Status SegmentReader::damaged(std::uint64_t offset, std::string_view what) const {
  return Status::corruption(what).in_file(name(), offset);
}

Status SegmentReader::check_header() const {
  const Result<format::FileHeader> header = format::decode_file_header(image(), format::FileType::kLogSegment);
  if (!header.ok()) return header.status().in_file(name(), 0);
  if (header->number != segment_.number) return damaged(0, "its header has the number of another file");
  if (header->seed != segment_.seed) return damaged(0, "the seed in its header differs from the one in the manifest");
  if (image_.size() < kFirstRecordOffset || !io::is_sector_multiple(image_.size())) {
    return damaged(image_.size(), "the file ends inside a sector");
  }
  if (!all_zero(part(image(), format::kFileHeaderBytes, kFirstRecordOffset))) {
    return damaged(format::kFileHeaderBytes, "bytes after the header are not zero");
  }
  if (segment_.closed && image_.size() != segment_.size_bytes) {
    return damaged(
        std::min<std::uint64_t>(image_.size(), segment_.size_bytes),
        "has " + std::to_string(image_.size()) + " bytes, but was closed with " + std::to_string(segment_.size_bytes));
  }
  return Status();
}

Status SegmentReader::check_unused() const {
  if (segment_.is_recycled) {
    Evidence evidence;
    const std::string_view rest = image().substr(static_cast<std::size_t>(kFirstRecordOffset));
    if (Status gathered = gather_evidence(rest, kFirstRecordOffset, &evidence); !gathered.ok()) return gathered;
    if (evidence.end == 0) return Status();
    return damaged(evidence.begin, "contains a record, but the segment before it was never sealed");
  }
  const std::size_t written = format::find_first_written(image(), kFirstRecordOffset);
  if (written == std::string::npos) return Status();
  return damaged(written, "contains data, but the segment before it was never sealed");
}

Result<SegmentWalk> SegmentReader::walk(bool may_be_unfinished) {
  // Accepted records point into the image until replay has settled, so this settles on every return.
  struct Settled {
    LogReplay& replay;
    ~Settled() { replay.settle(); }
  };
  const Settled settled{replay_};
  return walk_records(may_be_unfinished);
}

Result<SegmentWalk> SegmentReader::walk_records(bool may_be_unfinished) {
  std::uint64_t offset = kFirstRecordOffset;
  for (;;) {
    format::Record record;
    bool from_buffer = false;
    const Result<bool> found = find_next(offset, &record, &from_buffer);
    if (!found.ok()) return found.status();
    if (*found) {
      if (Status taken = take(record, offset, from_buffer); !taken.ok()) return taken;
      if (record.header.type == format::RecordType::kFooter) return end_sealed(record, offset);
      offset += record.size_bytes;
    } else if (rest_of_sector_is_unwritten(offset)) {
      offset = io::round_up_to_sector(offset);
    } else {
      break;
    }
  }
  if (may_be_unfinished) return end_unfinished(offset);
  if (why_.ok()) return damaged(offset, "the log ends here without a footer");
  return why_.in_file(name(), offset);
}

// -- The next record --------------------------------------------------------------------------------------------------

Result<bool> SegmentReader::find_next(std::uint64_t offset, format::Record* record, bool* from_buffer) {
  why_ = Status();
  const RecordOutcome outcome = format::read_record(image(), offset, segment_.seed, record, &why_);
  if (outcome == RecordOutcome::kUnsupported) return why_.in_file(name(), offset);
  if (outcome == RecordOutcome::kRecord) {
    if (follows(*record)) return true;
    why_ = Status::corruption("a record does not follow the previous record: a record between them is lost");
  }
  const Result<bool> found = find_in_slots(offset, record);
  *from_buffer = found.ok() && *found;
  return found;
}

Result<bool> SegmentReader::find_in_slots(std::uint64_t offset, format::Record* record) {
  for (const BufferedBytes& slot : slots_) {
    if (offset < slot.log_offset || offset - slot.log_offset >= slot.bytes.size()) continue;
    const std::string_view bytes = slot.bytes.substr(static_cast<std::size_t>(offset - slot.log_offset));
    Status ignored;
    const RecordOutcome outcome = format::read_record_at(bytes, {segment_.seed, offset}, record, &ignored);
    if (outcome == RecordOutcome::kUnsupported) return ignored.in_file(name(), offset);
    if (outcome != RecordOutcome::kRecord || !follows(*record)) continue;
    if (record->size_bytes > image_.size() - offset) continue;  // It was never part of the segment.
    std::memcpy(image_.data() + offset, bytes.data(), static_cast<std::size_t>(record->size_bytes));
    return true;
  }
  return false;
}

bool SegmentReader::slot_holds_last_record() const {
  if (last_from_buffer_) return true;
  for (const BufferedBytes& slot : slots_) {
    if (last_offset_ < slot.log_offset || last_offset_ - slot.log_offset >= slot.bytes.size()) continue;
    const std::string_view bytes = slot.bytes.substr(static_cast<std::size_t>(last_offset_ - slot.log_offset));
    format::Record record;
    Status ignored;
    if (format::read_record_at(bytes, {segment_.seed, last_offset_}, &record, &ignored) == RecordOutcome::kRecord) {
      return true;
    }
  }
  return false;
}

bool SegmentReader::rest_of_sector_is_unwritten(std::uint64_t offset) const {
  if (io::is_sector_multiple(offset)) return false;
  return all_zero(part(image(), offset, io::round_up_to_sector(offset))) || slot_holds_last_record();
}

Status SegmentReader::take(const format::Record& record, std::uint64_t offset, bool from_buffer) {
  if (record.header.file_number != segment_.number) return damaged(offset, "a record belongs to another segment");
  if (record.header.durable_upto > offset)
    return damaged(offset, "a record gives a durable length beyond its own offset");
  if (Status taken = replay_.take(record, from_buffer); !taken.ok()) return taken.in_file(name(), offset);
  if (record.header.type == format::RecordType::kGroup) walk_.last_version = record.header.last_version;
  walk_.records.push_back(offset);
  last_offset_ = offset;
  last_end_ = offset + record.size_bytes;
  last_from_buffer_ = from_buffer;
  return Status();
}

// -- The end ----------------------------------------------------------------------------------------------------------

Result<SegmentWalk> SegmentReader::end_sealed(const format::Record& footer, std::uint64_t offset) {
  // A footer is a separate write, made when no other write is in flight.
  if (!io::is_sector_multiple(offset) || footer.header.durable_upto != offset) {
    return damaged(offset, "the footer does not follow durable bytes only");
  }
  if (footer.header.last_version != walk_.last_version)
    return damaged(offset, "the last version in the footer is not that of the last record");
  if (segment_.closed && footer.header.last_version != segment_.last_version) {
    return damaged(offset, "the last version in the footer differs from the one in the manifest");
  }
  walk_.sealed = true;
  walk_.end = offset + io::kSectorBytes;
  // The file is cut after the footer is durable. Until then, a crash may have torn the footer's write.
  const bool may_be_torn = !segment_.closed && image_.size() > walk_.end;
  if (may_be_torn && segment_.is_recycled) return std::move(walk_);  // Old bytes follow it.
  const std::size_t written = format::find_first_written(image(), may_be_torn ? walk_.end : last_end_);
  if (written != std::string::npos) return damaged(written, "contains data after the footer");
  if (may_be_torn) io::probe("a footer was found before the cut behind it");
  walk_.torn_bytes = torn_bytes_from(last_end_);
  return std::move(walk_);
}

Result<SegmentWalk> SegmentReader::end_unfinished(std::uint64_t offset) {
  if (image_.size() < kSegmentBytesMin) return damaged(image_.size(), "the file was cut short");
  Evidence evidence;
  if (Status gathered = gather_evidence(offset, &evidence); !gathered.ok()) return gathered;
  const std::uint64_t hole = evidence.lost_before ? last_end_ : offset;
  if (evidence.durable_upto > hole) {
    const std::string proof =
        "; a later record proves that the first " + std::to_string(evidence.durable_upto) + " bytes were durable";
    const std::string what = why_.ok() ? std::string("zeros where a record was expected") : std::string(why_.message());
    return damaged(hole, what + proof);
  }
  walk_.end = last_end_;
  walk_.torn_bytes = segment_.is_recycled ? std::max(evidence.end, hole) - hole : torn_bytes_from(hole);
  if (walk_.torn_bytes > 0) io::probe("a torn tail was cut off");
  return std::move(walk_);
}

Status SegmentReader::gather_evidence(std::uint64_t offset, Evidence* evidence) const {
  const std::uint64_t begin = io::round_up_to_sector(offset);
  if (begin < image_.size()) {
    const std::string_view rest = image().substr(static_cast<std::size_t>(begin));
    if (Status gathered = gather_evidence(rest, begin, evidence); !gathered.ok()) return gathered;
  }
  for (const BufferedBytes& slot : slots_) {
    if (Status gathered = gather_evidence(slot.bytes, slot.log_offset, evidence); !gathered.ok()) return gathered;
  }
  return Status();
}

/// Reads the records in `bytes`, whose place begins at `offset`, the start of a sector.
Status SegmentReader::gather_evidence(std::string_view bytes, std::uint64_t offset, Evidence* evidence) const {
  std::uint64_t at = 0;
  while (at < bytes.size()) {
    format::Record record;
    Status why;
    const std::uint64_t place = offset + at;
    const RecordOutcome outcome =
        format::read_record_at(bytes.substr(static_cast<std::size_t>(at)), {segment_.seed, place}, &record, &why);
    if (outcome == RecordOutcome::kUnsupported) return why.in_file(name(), place);
    if (outcome != RecordOutcome::kRecord) {
      at = io::round_up_to_sector(at + 1);
      continue;
    }
    if (Status marks = replay_.check_marks(record.header); !marks.ok()) return marks;
    evidence->durable_upto = std::max(evidence->durable_upto, record.header.durable_upto);
    if (evidence->end == 0) evidence->begin = place;
    evidence->end = std::max(evidence->end, place + record.size_bytes);
    const std::uint64_t previous = record.header.previous_offset;
    if (place >= last_end_ && previous < last_offset_) {
      return damaged(place, "a record names an impossible previous record");
    }
    if (previous >= last_end_ && previous < io::round_up_to_sector(last_end_)) evidence->lost_before = true;
    at += record.size_bytes;
  }
  return Status();
}

std::uint64_t SegmentReader::torn_bytes_from(std::uint64_t offset) const noexcept {
  const std::size_t last = format::find_last_written(image());
  return last == std::string::npos || last < offset ? 0 : last + 1 - offset;
}

}  // namespace varve::engine
