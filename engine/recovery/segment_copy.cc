// Owns: framing records for another segment, and writing them in large pieces.
// Must never: write a piece that is not whole sectors.
#include "engine/recovery/segment_copy.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "engine/base/file_scale.h"
#include "engine/base/sync_points.h"
#include "engine/log/log_files.h"
#include "format/log/file_header.h"
#include "format/log/log_record.h"
#include "io/aligned_buffer.h"

namespace varve::engine {
namespace {

/// Size of a piece in bytes. Each piece is a durable write: few large ones take a fraction of the time of many.
constexpr std::size_t kCopyPieceBytes = (std::size_t{8} << 20) / kFileScale;
static_assert(io::is_sector_multiple(kCopyPieceBytes));

Result<format::Record> read_again(const SegmentInDoubt& source, std::uint64_t offset) {
  format::Record record;
  Status why = Status::corruption("a record can no longer be read");
  if (format::read_record(source.image.view(), offset, source.seed, &record, &why) == format::RecordOutcome::kRecord) {
    return record;
  }
  NamedFile copy = format::named_file(format::FileType::kLogSegment, source.number);
  copy.name += " in memory";
  return Status::corruption(why.message()).in_file(copy, offset);
}

/// Returns the record's header for the copy.
format::RecordHeader moved(format::RecordHeader header, std::uint64_t number, std::uint64_t previous_offset) {
  header.file_number = number;
  header.durable_upto = kFirstRecordOffset;
  header.manifest_number = 0;
  header.manifest_durable_bytes = 0;
  header.previous_offset = previous_offset;
  return header;
}

/// Lays out the groups. Both passes use it: one that counts and one that writes.
template <typename Place>
Result<std::uint64_t> lay_out(const SegmentInDoubt& source, std::uint64_t number, std::uint64_t* last_offset,
                              const Place& place) {
  std::uint64_t offset = kFirstRecordOffset;
  *last_offset = 0;
  for (const std::uint64_t from : source.records) {
    const Result<format::Record> record = read_again(source, from);
    if (!record.ok()) return record.status();
    if (record->header.type != format::RecordType::kGroup) continue;
    const format::RecordHeader header = moved(record->header, number, *last_offset);
    if (Status placed = place(from, header, offset); !placed.ok()) return placed;
    *last_offset = offset;
    offset += format::record_bytes(header, record->payload.size());
  }
  return offset;
}

/// Collects adjacent bytes and writes them in pieces.
class PieceWriter {
 public:
  static Result<PieceWriter> make(io::LogSegment& segment) {
    Result<io::AlignedBuffer> piece = io::AlignedBuffer::allocate(kCopyPieceBytes);
    if (!piece.ok()) return piece.status();
    return PieceWriter(segment, *std::move(piece));
  }

  std::string& pending() noexcept { return pending_; }
  std::uint64_t end() const noexcept { return offset_ + pending_.size(); }

  Status write_whole_pieces() {
    std::size_t written = 0;
    while (pending_.size() - written >= kCopyPieceBytes) {
      if (Status done = write(written, kCopyPieceBytes); !done.ok()) return done;
      written += kCopyPieceBytes;
    }
    pending_.erase(0, written);
    return Status();
  }

  /// Writes the remaining bytes, filled with zeros to a sector.
  Status write_rest() {
    pending_.resize(static_cast<std::size_t>(io::round_up_to_sector(pending_.size())), '\0');
    if (Status done = write_whole_pieces(); !done.ok()) return done;
    if (pending_.empty()) return Status();
    Status done = write(0, pending_.size());
    pending_.clear();
    return done;
  }

 private:
  PieceWriter(io::LogSegment& segment, io::AlignedBuffer piece) noexcept
      : segment_(&segment), piece_(std::move(piece)) {}

  Status write(std::size_t from, std::size_t bytes) {
    std::memcpy(piece_.bytes().data(), pending_.data() + from, bytes);
    Status written = segment_->write(offset_, piece_.bytes().first(bytes), sync_points::kRecoveredLog);
    offset_ += bytes;
    return written;
  }

  io::LogSegment* segment_;
  io::AlignedBuffer piece_;
  std::uint64_t offset_ = kFirstRecordOffset;
  std::string pending_;
};

Status write_copy(const SegmentInDoubt& source, const SegmentFile& target) {
  Result<PieceWriter> writer = PieceWriter::make(*target.file);
  if (!writer.ok()) return writer.status();
  std::uint64_t last_offset = 0;
  const auto append = [&](std::uint64_t from, const format::RecordHeader& header, std::uint64_t offset) {
    assert(offset == writer->end());
    format::append_moved_record(writer->pending(), source.image.view(), from, source.seed, header,
                                {target.seed, offset});
    return writer->write_whole_pieces();
  };
  const Result<std::uint64_t> end = lay_out(source, target.number, &last_offset, append);
  if (!end.ok()) return end.status();
  if (Status rest = writer->write_rest(); !rest.ok()) return rest;

  format::RecordHeader footer;
  footer.type = format::RecordType::kFooter;
  footer.file_number = target.number;
  footer.last_version = source.last_version;
  footer.durable_upto = writer->end();
  footer.previous_offset = last_offset;
  format::append_record(writer->pending(), footer, {}, {target.seed, writer->end()});
  return writer->write_rest();
}

}  // namespace

Result<LiveSegment> copy_segment(const io::Env& env, io::Directory& directory, const SegmentInDoubt& source,
                                 std::uint64_t number) {
  std::uint64_t last_offset = 0;
  const auto count_only = [](std::uint64_t, const format::RecordHeader&, std::uint64_t) { return Status(); };
  const Result<std::uint64_t> end = lay_out(source, number, &last_offset, count_only);
  if (!end.ok()) return end.status();
  const std::uint64_t bytes = io::round_up_to_sector(*end) + io::kSectorBytes;

  const Result<SegmentFile> target = create_segment(env, directory, number, bytes);
  if (!target.ok()) return target.status();
  if (Status written = write_copy(source, *target); !written.ok()) return written;
  LiveSegment copy;
  copy.number = number;
  copy.seed = target->seed;
  copy.closed = true;
  copy.size_bytes = bytes;
  copy.last_version = source.last_version;
  return copy;
}

}  // namespace varve::engine
