// Owns: the log's files as text: segments, read in the way of section 6 of FORMAT.md, and the log buffer.
// Must never: judge a file by other files. If only the manifest could decide, the text says so.
#include <algorithm>

#include "format/log/log_buffer.h"
#include "tools/varve/inspect/inspect.h"

namespace varve::tool {

namespace {

using format::Record;
using format::RecordOutcome;
using format::RecordType;

constexpr std::uint64_t kSector = 4096;
constexpr std::uint64_t kSegmentBytesMin = std::uint64_t{1} << 20;

std::uint64_t next_sector(std::uint64_t offset) noexcept {
  return (offset + kSector - 1) / kSector * kSector;
}

bool is_zero(std::string_view bytes) noexcept {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

class SegmentWalk {
 public:
  SegmentWalk(std::string_view file, const format::FileHeader& header, InspectOutput& out)
      : file_(file), header_(header), out_(out) {}

  void run() {
    if (file_.size() < kSector || !is_zero(file_.substr(format::kFileHeaderBytes, kSector - format::kFileHeaderBytes)))
      return out_.damage(format::kFileHeaderBytes, Status::corruption("the header's sector is not filled with zeros"));
    if (file_.size() % kSector != 0)
      return out_.damage(file_.size(), Status::corruption("the size is not a multiple of 4,096"));
    while (out_.wanted()) {
      Record record;
      if (!find_next(&record)) return judge_end();
      const std::uint64_t offset = at_;
      if (!take(record)) return;
      if (record.header.type == RecordType::kFooter) return judge_footer(record, offset);
    }
  }

 private:
  bool find_next(Record* record) {
    for (;;) {
      if (at_ >= file_.size()) return false;
      const RecordOutcome outcome = format::read_record(file_, at_, header_.seed, record, &why_);
      if (outcome == RecordOutcome::kRecord) {
        if (record->header.previous_offset == last_) return true;
        why_ = Status::corruption("the record here follows one at " + std::to_string(record->header.previous_offset) +
                                  ", not the previous record");
        return false;
      }
      if (outcome != RecordOutcome::kZeros) return false;
      const std::uint64_t next = next_sector(at_);
      if (next == at_ || !is_zero(file_.substr(at_, next - at_))) {
        why_ = Status();
        return false;
      }
      at_ = next;
    }
  }

  bool take(const Record& record) {
    if (record.header.type == RecordType::kManifestEdit || record.header.file_number != header_.number ||
        record.header.durable_upto > at_) {
      out_.damage(at_, Status::corruption(
                           "the record belongs to another file, or gives a durable length beyond its own offset"));
      return false;
    }
    if (!show_log_record(record, at_, out_)) return false;
    last_ = at_;
    at_ += record.size_bytes;
    last_end_ = at_;
    return true;
  }

  void judge_footer(const Record& footer, std::uint64_t offset) {
    if (offset % kSector != 0 || footer.header.durable_upto != offset)
      return out_.damage(offset, Status::corruption("the footer is not in a write of its own"));
    if (!is_zero(file_.substr(at_))) return out_.damage(at_, Status::corruption("bytes follow the footer"));
    out_.item(next_sector(at_), "end", {word_field("state", "sealed")});
  }

  struct Behind {
    std::uint64_t records = 0;
    std::uint64_t durable_upto = 0;
    bool names_gap = false;      // an offset between the last record and the next sector
    bool names_earlier = false;  // an offset before the last record
  };

  /// Finds the intact records after the end: at each sector boundary, where a write could begin, and directly after
  /// such a record.
  Behind look_behind() const {
    Behind found;
    for (std::uint64_t sector = next_sector(at_); sector < file_.size(); sector += kSector) {
      std::uint64_t at = sector;
      Record record;
      Status why;
      while (at < file_.size() &&
             format::read_record(file_, at, header_.seed, &record, &why) == RecordOutcome::kRecord) {
        const std::uint64_t previous = record.header.previous_offset;
        ++found.records;
        found.durable_upto = std::max(found.durable_upto, record.header.durable_upto);
        if (previous >= last_end_ && previous < next_sector(last_end_)) found.names_gap = true;
        if (previous < last_) found.names_earlier = true;
        at += record.size_bytes;
      }
    }
    return found;
  }

  void judge_end() {
    if (why_.code() == Code::kUnsupported) return out_.damage(at_, why_);
    const Behind behind = look_behind();
    const std::uint64_t hole = behind.names_gap ? last_end_ : at_;
    const std::string reason = why_.ok() ? "nothing was written here" : std::string(why_.message());
    if (behind.durable_upto > hole || behind.names_earlier)
      return out_.damage(hole, Status::corruption(reason + "; a later record proves that it was once complete"));
    if (file_.size() < kSegmentBytesMin)
      return out_.damage(at_, Status::corruption(reason + "; a segment of this size must end with a footer"));
    const std::size_t last_byte = file_.find_last_not_of('\0');
    const std::uint64_t torn = last_byte == std::string_view::npos || last_byte < at_ ? 0 : last_byte + 1 - at_;
    out_.item(at_, "end",
              {word_field("state", "not sealed"), word_field("why", reason), number_field("torn_bytes", torn),
               number_field("records_behind", behind.records)});
  }

  std::string_view file_;
  const format::FileHeader& header_;
  InspectOutput& out_;
  std::uint64_t at_ = kSector;
  std::uint64_t last_ = 0;
  std::uint64_t last_end_ = kSector;
  Status why_;
};

/// Shows the records of a slot. Bytes of an older use of the slot can cut them short.
void show_slot(std::string_view bytes, const format::SlotHeader& slot, InspectOutput& out) {
  std::uint64_t at = 0;
  while (at < bytes.size() && out.wanted()) {
    Record record;
    Status why;
    const format::FilePlace place{slot.segment_seed, slot.log_offset + at};
    const RecordOutcome outcome = format::read_record_at(bytes.substr(at), place, &record, &why);
    if (outcome == RecordOutcome::kZeros && at % kSector != 0) {
      at = next_sector(at);
      continue;
    }
    if (outcome != RecordOutcome::kRecord || !show_log_record(record, place.offset, out)) return;
    at += record.size_bytes;
  }
}

}  // namespace

void inspect_segment(std::string_view file, const format::FileHeader& header, InspectOutput& out) {
  SegmentWalk(file, header, out).run();
}

void inspect_log_buffer(std::string_view file, const format::FileHeader& header, InspectOutput& out) {
  struct Slot {
    std::uint64_t offset;
    format::SlotHeader header;
  };
  std::vector<Slot> slots;
  for (std::uint64_t at = kSector; at + format::kSlotHeaderBytes <= file.size(); at += kSector) {
    const Result<format::SlotHeader> slot =
        format::load_slot_header(file.substr(at, format::kSlotHeaderBytes), {header.seed, at});
    if (slot.ok()) slots.push_back({at, *slot});
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const format::SlotHeader& slot = slots[i].header;
    out.item(slots[i].offset, "slot",
             {number_field("segment", slot.segment_number), hex_field("segment_seed", slot.segment_seed),
              number_field("log_offset", slot.log_offset), number_field("serial", slot.serial)});
    const std::uint64_t begin = slots[i].offset + kSector;
    const std::uint64_t end = i + 1 < slots.size() ? slots[i + 1].offset : file.size();
    if (begin < end) show_slot(file.substr(begin, end - begin), slot, out);
  }
  if (out.status().ok()) out.item(file.size(), "end", {number_field("slots_in_use", slots.size())});
}

}  // namespace varve::tool
