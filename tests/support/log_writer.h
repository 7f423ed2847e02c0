// Owns: a log segment as a test wants it: any records, in any writes, with any marks, right or wrong.
// Must never: use the engine's own writer; what recovery reads here was framed by format/ alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/log_files.h"
#include "engine/manifest/manifest.h"
#include "format/keys/batch.h"
#include "format/log/log_record.h"

namespace varve::test {

/// A batch that puts one row of one table.
std::string put_of(std::string_view row, std::string_view value);
/// The sort key of that row.
std::string key_of_row(std::string_view row);

/// One device write: whole sectors.
struct WrittenRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Frames records one behind another, and keeps what each write covered. Headers are right unless told otherwise: each
/// record names the one before it, and claims durable what durable_upto() was told last.
class LogWriter {
 public:
  LogWriter(std::uint64_t number, std::uint64_t seed, std::uint64_t bytes = engine::kSegmentBytesMin);

  // Of the records to come.
  LogWriter& durable_upto(std::uint64_t offset);
  /// Everything written by now is durable.
  LogWriter& all_durable() { return durable_upto(position()); }
  LogWriter& manifest_mark(engine::ManifestMark mark);
  LogWriter& ceiling(format::CommitVersion ceiling);

  // Each adds a record to the write under way and returns its offset.
  /// Batches at the versions `first`, `first` + 1, ...
  std::uint64_t group(format::CommitVersion first, const std::vector<std::string>& batches);
  std::uint64_t put(format::CommitVersion version, std::string_view row, std::string_view value);
  std::uint64_t watermark();
  /// Any record; number, chain and marks are filled in where they are zero.
  std::uint64_t record(format::RecordHeader header, std::string_view payload);

  /// Ends the write under way: fills it to a sector. Returns what it covered.
  WrittenRange end_write();
  /// Ends the write, and seals the segment in a write of its own.
  void seal();

  std::uint64_t number() const noexcept { return number_; }
  std::uint64_t seed() const noexcept { return seed_; }
  /// Where the next record goes.
  std::uint64_t position() const noexcept { return written_.size(); }
  std::uint64_t last_record() const noexcept { return previous_offset_; }
  format::CommitVersion last_version() const noexcept { return last_version_; }
  const std::vector<WrittenRange>& writes() const noexcept { return writes_; }
  /// Bytes [range.begin, range.end) as written.
  std::string bytes_of(WrittenRange range) const;

  /// The file: header, what was written, zeros to its size.
  std::string file() const;
  /// The same, cut behind what was written.
  std::string cut_file() const { return written_; }

 private:
  std::uint64_t number_;
  std::uint64_t seed_;
  std::uint64_t bytes_;
  std::string written_;  // from the start of the file
  std::uint64_t write_begin_ = engine::kFirstRecordOffset;
  std::uint64_t previous_offset_ = 0;
  std::uint64_t durable_upto_ = engine::kFirstRecordOffset;
  engine::ManifestMark mark_;
  format::CommitVersion ceiling_ = 0;
  format::CommitVersion last_version_ = 0;
  std::vector<WrittenRange> writes_;
};

}  // namespace varve::test
