// Owns: walking one log segment from its first record to its end, and deciding where that end is.
// Must never: pass over a record that was lost, end the log below a place that later bytes prove durable, or end it
// anywhere but at a footer unless it is told that the log may be unfinished here.
//
// The walk. A record is the next one if it verifies at its place and names the one before it. It is looked for where
// the last one ended: in the file, then in the slots of the log buffer. If it is in neither, and nothing but zeros is
// left of the sector, the next write began at the next sector, and it is looked for there. (Where a slot holds the last
// record, the rest of the sector counts as zeros, whatever a torn write left: a slot is written to the device filled.)
//
// The end. Where no record follows there is damage, or the end of the log. Up to eight writes were in flight at once,
// so valid records may stand behind a hole. Each says how much of the segment was durable when it was framed: if that
// is more than what lies before the hole, the hole was once whole, and this is damage. Otherwise nothing behind the
// hole was acknowledged, and it is a torn tail. Behind a footer nothing can stand but what its own write left when it
// was torn, and that only as long as the file was not cut.
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

/// What a walk found.
struct SegmentWalk {
  bool sealed = false;
  /// Of a sealed segment: behind its footer's sector. Of another: behind its last record.
  std::uint64_t end = 0;
  /// Offsets of its records, footer included.
  std::vector<std::uint64_t> records;
  /// Of the commits in it; zero where there is none.
  CommitVersion last_version = 0;
  /// From the end to behind the last byte that is not zero.
  std::uint64_t torn_bytes = 0;
};

class SegmentReader {
 public:
  /// `image` is the whole file. `slots` are the log buffer's for this segment. `replay` takes the records.
  SegmentReader(const LiveSegment& segment, FileImage image, std::vector<BufferedBytes> slots, LogReplay& replay);

  /// Checks the header, and that a segment the manifest knows as closed has its size. First of all.
  /// Errors: kCorruption, kUnsupported; they name file and offset.
  Status check_header() const;

  /// `may_be_unfinished`: the segment may end without a footer. Errors: kCorruption, kUnsupported, kOutOfMemory. The
  /// commits before an error are in the memtable, as those of the whole segment are where there is none.
  Result<SegmentWalk> walk(bool may_be_unfinished);

  /// Ok if nothing stands behind the header. Errors: kCorruption.
  Status check_unused() const;

  // For who saves what is left of a damaged segment, after a walk that ended with an error:

  /// The records taken until then.
  const SegmentWalk& walked() const noexcept { return walk_; }
  /// Behind the last of them.
  std::uint64_t end_of_records() const noexcept { return last_end_; }

  /// The file's bytes, with the records that were found in the log buffer in their places.
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

  std::string name() const;
  Status damaged(std::uint64_t offset, std::string_view what) const;

  const LiveSegment segment_;
  FileImage image_;
  const std::vector<BufferedBytes> slots_;
  LogReplay& replay_;

  SegmentWalk walk_;
  std::uint64_t last_offset_ = 0;  // of the last record taken; zero before the first
  std::uint64_t last_end_;         // behind it
  bool last_from_buffer_ = false;
  Status why_;  // why the file has no record where one was looked for last
};

}  // namespace varve::engine
