// Owns: building a log segment for a test: any records, writes and marks, correct or incorrect.
// Must never: use the engine's own writer. Recovery reads records that format/ alone framed.
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

/// Returns a batch that puts one row of one table.
std::string put_of(std::string_view row, std::string_view value);
/// Returns the sort key of that row.
std::string key_of_row(std::string_view row);

/// One device write: whole sectors.
struct WrittenRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Frames records one after another, and records the range of each write. Headers are correct unless a test changes
/// them: each record points to the record before it, and states the last offset passed to durable_upto() as durable.
class LogWriter {
 public:
  LogWriter(std::uint64_t number, std::uint64_t seed, std::uint64_t bytes = engine::kSegmentBytesMin);

  // Marks of the following records.
  LogWriter& durable_upto(std::uint64_t offset);
  /// Marks everything written so far as durable.
  LogWriter& all_durable() { return durable_upto(position()); }
  LogWriter& manifest_mark(engine::ManifestMark mark);
  LogWriter& ceiling(format::CommitVersion ceiling);

  // Each function adds a record to the open write and returns its offset.
  /// Adds batches at the versions `first`, `first` + 1, ...
  std::uint64_t group(format::CommitVersion first, const std::vector<std::string>& batches);
  std::uint64_t put(format::CommitVersion version, std::string_view row, std::string_view value);
  std::uint64_t watermark();
  /// Adds any record. Number, chain and marks are filled in if they are zero.
  std::uint64_t record(format::RecordHeader header, std::string_view payload);

  /// Ends the open write, and pads it to a sector. Returns the range that it covers.
  WrittenRange end_write();
  /// Ends the write, and seals the segment in a separate write.
  void seal();

  std::uint64_t number() const noexcept { return number_; }
  std::uint64_t seed() const noexcept { return seed_; }
  /// Returns the offset of the next record.
  std::uint64_t position() const noexcept { return written_.size(); }
  std::uint64_t last_record() const noexcept { return previous_offset_; }
  format::CommitVersion last_version() const noexcept { return last_version_; }
  const std::vector<WrittenRange>& writes() const noexcept { return writes_; }
  /// Returns the written bytes [range.begin, range.end).
  std::string bytes_of(WrittenRange range) const;

  /// Returns the file: the header, the written bytes, and zeros up to its size.
  std::string file() const;
  /// Returns the file, cut after the written bytes.
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
