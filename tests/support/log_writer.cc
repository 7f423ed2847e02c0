// Owns: framing records without the engine.
// Must never: correct a test that requests incorrect records.
#include "tests/support/log_writer.h"

#include <cassert>

#include "format/keys/sort_key.h"
#include "format/log/file_header.h"
#include "io/aligned_buffer.h"

namespace varve::test {

namespace {
constexpr format::TableId kRowsTable = format::make_table_id(5, 9);
}

std::string key_of_row(std::string_view row) {
  return *format::encode_sort_key(kRowsTable, "partition", row);
}

std::string put_of(std::string_view row, std::string_view value) {
  format::BatchBuilder batch;
  batch.put(key_of_row(row), value);
  return batch.finish();
}

LogWriter::LogWriter(std::uint64_t number, std::uint64_t seed, std::uint64_t bytes)
    : number_(number), seed_(seed), bytes_(bytes) {
  written_ = format::encode_file_header({format::FileType::kLogSegment, format::kFormatVersion, seed, number});
  written_.resize(engine::kFirstRecordOffset, '\0');
}

LogWriter& LogWriter::durable_upto(std::uint64_t offset) {
  durable_upto_ = offset;
  return *this;
}

LogWriter& LogWriter::manifest_mark(engine::ManifestMark mark) {
  mark_ = mark;
  return *this;
}

LogWriter& LogWriter::ceiling(format::CommitVersion ceiling) {
  ceiling_ = ceiling;
  return *this;
}

std::uint64_t LogWriter::record(format::RecordHeader header, std::string_view payload) {
  const auto fill_in = [](std::uint64_t& field, std::uint64_t value) {
    if (field == 0) field = value;
  };
  fill_in(header.file_number, number_);
  fill_in(header.durable_upto, durable_upto_);
  fill_in(header.previous_offset, previous_offset_);
  fill_in(header.manifest_number, mark_.number);
  fill_in(header.manifest_durable_bytes, mark_.durable_bytes);
  fill_in(header.ceiling, ceiling_);
  const std::uint64_t offset = position();
  format::append_record(written_, header, payload, {seed_, offset});
  previous_offset_ = offset;
  return offset;
}

std::uint64_t LogWriter::group(format::CommitVersion first, const std::vector<std::string>& batches) {
  assert(!batches.empty());
  format::RecordHeader header;
  header.type = format::RecordType::kGroup;
  header.first_version = first;
  header.last_version = first + batches.size() - 1;
  std::string payload;
  for (std::size_t index = 0; index < batches.size(); ++index) {
    const std::size_t at = payload.size();
    payload.resize(at + format::group_member_bytes(first, first + index, batches[index].size()));
    format::store_group_member(payload.data() + at, first, first + index, batches[index]);
  }
  last_version_ = header.last_version;
  return record(header, payload);
}

std::uint64_t LogWriter::put(format::CommitVersion version, std::string_view row, std::string_view value) {
  return group(version, {put_of(row, value)});
}

std::uint64_t LogWriter::watermark() {
  format::RecordHeader header;
  header.type = format::RecordType::kWatermark;
  return record(header, {});
}

WrittenRange LogWriter::end_write() {
  written_.resize(static_cast<std::size_t>(io::round_up_to_sector(written_.size())), '\0');
  writes_.push_back({write_begin_, written_.size()});
  write_begin_ = written_.size();
  assert(written_.size() <= bytes_);
  return writes_.back();
}

void LogWriter::seal() {
  if (position() != write_begin_) end_write();
  format::RecordHeader header;
  header.type = format::RecordType::kFooter;
  header.durable_upto = position();
  header.last_version = last_version_;
  record(header, {});
  end_write();
}

std::string LogWriter::bytes_of(WrittenRange range) const {
  return written_.substr(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.end - range.begin));
}

std::string LogWriter::file() const {
  std::string file = written_;
  if (file.size() < bytes_) file.resize(static_cast<std::size_t>(bytes_), '\0');
  return file;
}

}  // namespace varve::test
