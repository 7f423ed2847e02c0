// Owns: reading one log segment from its first record to its end, and finding that end.
// Must never: skip a lost record, or end the log below a place that later bytes prove durable. Unless the caller says
// that the log may be unfinished here, the end must be a footer.
//
// Reading. The next record is one that verifies at its place and names its predecessor. It is searched at the end of
// the previous record: in the file, then in the slots of the log buffer. If neither has it, and the rest of the sector
// is zero, the next write began at the next sector, and the record is searched there. (If a slot contains the last
// record, the rest of the sector counts as zero, whatever a torn write left: a slot is filled with zeros before it is
// written to the device.)
//
// The end. If no record follows, there is damage or the end of the log. Several writes were in flight at once, so
// valid records may follow a hole. Each states how much of the segment was durable when it was framed. If that is more
// than the bytes before the hole, the hole was once complete, and this is damage. Otherwise, nothing after the hole was
// acknowledged, and it is a torn tail. After a footer, only the rest of its own torn write is possible, and only if the
// file was not yet cut.
//
// A recycled segment that is not closed contains bytes of an earlier segment where nothing was written. They do not
// verify, since each record is bound to the seed, so only intact records count there. In all other segments a place
// without a record is zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/file_image.h"
#include "engine/log/log_buffer_content.h"
#include "engine/manifest/file_set.h"
#include "engine/recovery/log_replay.h"
#include "format/log/log_record.h"
#include "varve/result.h"

namespace varve::engine {

/// The result of reading a segment.
struct SegmentWalk {
  bool sealed = false;
  /// Offset in bytes. For a sealed segment, the end of its footer's sector; otherwise, the end of its last record.
  std::uint64_t end = 0;
  /// Offsets of its records in bytes, including the footer.
  std::vector<std::uint64_t> records;
  /// The version of its last commit. Zero if it has none.
  CommitVersion last_version = 0;
  /// Number of bytes from the end to the last byte that is not zero, inclusive. In a recycled segment: to the end of
  /// the last intact record.
  std::uint64_t torn_bytes = 0;
};

class SegmentReader {
 public:
  /// `image` is the whole file. `slots` are the log buffer's slots for this segment. `replay` receives the records.
  SegmentReader(const LiveSegment& segment, FileImage image, std::vector<BufferedBytes> slots, LogReplay& replay);

  /// Checks the header, and the size of a segment that the manifest records as closed. The caller calls it first.
  /// Errors: kCorruption, kUnsupported; they name file and offset.
  Status check_header() const;

  /// Reads all records. If `may_be_unfinished`, the segment may end without a footer. After an error, the commits
  /// before it are in the memtable; otherwise, all commits of the segment are. Errors: kCorruption, kUnsupported,
  /// kOutOfMemory.
  Result<SegmentWalk> walk(bool may_be_unfinished);

  /// Returns Ok if nothing follows the header: no byte, or no record in a recycled segment. Errors: kCorruption,
  /// kUnsupported.
  Status check_unused() const;

  // The functions below serve a repair, after walk() returned an error:

  /// Returns the records that were accepted before the error.
  const SegmentWalk& walked() const noexcept { return walk_; }
  /// Returns the offset of the end of the last accepted record.
  std::uint64_t end_of_records() const noexcept { return last_end_; }

  /// Returns the file's bytes, with the records from the log buffer in their places.
  std::string_view image() const noexcept { return image_.view(); }
  FileImage take_image() noexcept { return std::move(image_); }

 private:
  struct Evidence;

  Result<bool> find_next(std::uint64_t offset, format::Record* record, bool* from_buffer);
  Result<bool> find_in_slots(std::uint64_t offset, format::Record* record);
  bool follows(const format::Record& record) const noexcept { return record.header.previous_offset == last_offset_; }
  bool slot_holds_last_record() const;
  bool rest_of_sector_is_unwritten(std::uint64_t offset) const;

  Result<SegmentWalk> walk_records(bool may_be_unfinished);
  Status take(const format::Record& record, std::uint64_t offset, bool from_buffer);
  Result<SegmentWalk> end_sealed(const format::Record& footer, std::uint64_t offset);
  Result<SegmentWalk> end_unfinished(std::uint64_t offset);
  Status gather_evidence(std::uint64_t offset, Evidence* evidence) const;
  Status gather_evidence(std::string_view bytes, std::uint64_t offset, Evidence* evidence) const;
  std::uint64_t torn_bytes_from(std::uint64_t offset) const noexcept;

  NamedFile name() const;
  Status damaged(std::uint64_t offset, std::string_view what) const;

  const LiveSegment segment_;
  FileImage image_;
  const std::vector<BufferedBytes> slots_;
  LogReplay& replay_;

  SegmentWalk walk_;
  std::uint64_t last_offset_ = 0;  // of the last accepted record; zero before the first
  std::uint64_t last_end_;         // the end of that record
  bool last_from_buffer_ = false;
  Status why_;  // reason why the last search found no record in the file
};

}  // namespace varve::engine
