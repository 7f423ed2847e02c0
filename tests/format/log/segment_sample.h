// Owns: log segments for tests, which the tested code creates like a writer: whole writes of several records.
// Must never: be read only by the code that created them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/keys/batch.h"
#include "format/log/file_header.h"
#include "format/log/log_record.h"

namespace varve::format {

struct SampleCommit {
  CommitVersion version = 0;
  std::string batch;
};

class SegmentSample {
 public:
  SegmentSample(std::uint64_t number, std::uint64_t seed) : number_(number), seed_(seed) {
    file_ = encode_file_header({FileType::kLogSegment, kFormatVersion, seed, number});
    end_write();
    durable_upto_ = file_.size();
  }

  /// Sets the durable offset that the following records state. It is at most the beginning of the write.
  void set_durable_upto(std::uint64_t bytes) { durable_upto_ = bytes; }

  /// Adds a group to the open write. Returns its offset.
  std::uint64_t add_group(const std::vector<SampleCommit>& commits) {
    RecordHeader header = marks(RecordType::kGroup);
    header.first_version = commits.front().version;
    header.last_version = last_version_ = commits.back().version;
    header.ceiling = ceiling_ = header.last_version + 1'000'000;
    std::string payload;
    for (const SampleCommit& commit : commits) {
      const std::size_t start = payload.size();
      payload.resize(start + group_member_bytes(header.first_version, commit.version, commit.batch.size()));
      store_group_member(payload.data() + start, header.first_version, commit.version, commit.batch);
    }
    return add(header, payload);
  }
  std::uint64_t add_watermark() { return add(marks(RecordType::kWatermark), ""); }
  /// Seals the segment. No other write may be open.
  std::uint64_t add_footer() {
    end_write();
    durable_upto_ = file_.size();
    RecordHeader header = marks(RecordType::kFooter);
    header.last_version = last_version_;
    const std::uint64_t offset = add(header, "");
    end_write();
    return offset;
  }

  /// Pads the write to a whole sector.
  void end_write() { file_.resize((file_.size() + 4095) / 4096 * 4096); }

  std::uint64_t number() const { return number_; }
  std::uint64_t seed() const { return seed_; }
  const std::string& file() const { return file_; }

 private:
  RecordHeader marks(RecordType type) const {
    RecordHeader header;
    header.type = type;
    header.file_number = number_;
    header.ceiling = ceiling_;
    header.durable_upto = durable_upto_;
    header.manifest_number = 41;
    header.manifest_durable_bytes = 300;
    header.previous_offset = previous_offset_;
    return header;
  }
  std::uint64_t add(const RecordHeader& header, std::string_view payload) {
    previous_offset_ = file_.size();
    append_record(file_, header, payload, {seed_, previous_offset_});
    return previous_offset_;
  }

  std::uint64_t number_;
  std::uint64_t seed_;
  std::string file_;
  std::uint64_t durable_upto_ = 0;
  std::uint64_t previous_offset_ = 0;
  CommitVersion last_version_ = 0;
  CommitVersion ceiling_ = 0;
};

}  // namespace varve::format
