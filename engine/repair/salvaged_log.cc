// Owns: reading the segments of a damaged log one by one (salvaged_log.h).
// Must never: take the end of a segment for the end of the log while a later segment has records.
#include "engine/repair/salvaged_log.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "engine/base/whole_file.h"
#include "engine/log/log_buffer_content.h"
#include "engine/log/log_files.h"
#include "engine/recovery/log_replay.h"
#include "engine/recovery/recovery.h"
#include "engine/recovery/segment_reader.h"
#include "format/log/file_header.h"
#include "format/log/log_record.h"
#include "io/os_error.h"

namespace varve::engine {
namespace {

/// Above the mark of any record, so that replay does not check the manifest.
constexpr ManifestMark kAnyManifest{std::numeric_limits<std::uint64_t>::max(),
                                    std::numeric_limits<std::uint64_t>::max()};

/// Properties of a segment that its records state.
struct SegmentEnds {
  CommitVersion first_version = 0;
  bool has_footer = false;
  ManifestMark mark;
};

SegmentEnds ends_of(const SegmentReader& reader, const std::vector<std::uint64_t>& records, std::uint64_t seed) {
  SegmentEnds ends;
  for (const std::uint64_t offset : records) {
    format::Record record;
    Status ignored;
    const format::RecordOutcome outcome = format::read_record(reader.image(), offset, seed, &record, &ignored);
    assert(outcome == format::RecordOutcome::kRecord);  // The reader verified it.
    if (ends.first_version == 0) ends.first_version = record.header.first_version;
    ends.has_footer = record.header.type == format::RecordType::kFooter;
    ends.mark = {record.header.manifest_number, record.header.manifest_durable_bytes};
  }
  return ends;
}

class LogSalvage {
 public:
  LogSalvage(const io::Env& env, const SurveyedStore& store, Salvage& salvage) noexcept
      : env_(env), store_(store), salvage_(salvage) {}

  Result<SalvagedLog> read() {
    if (Status buffers = read_buffers(); !buffers.ok()) return buffers;
    for (const SegmentSource& source : store_.segments) {
      if (Status read = read_segment(source); !read.ok()) return read;
    }
    end_unsealed(0);
    for (Loss& loss : lost_buffers_) {
      loss.smallest_version = last_version_ + 1;
      salvage_.losses.add(std::move(loss));
    }
    return std::move(log_);
  }

 private:
  // -- The log buffer -----------------------------------------------------------------------------------------------

  Status read_buffers() {
    for (const BufferSource& source : store_.buffers) {
      const Status read = read_buffer(source);
      if (read.ok()) {
        ++salvage_.figures.report.log_buffers.whole;
      } else if (io::is_missing(read) || is_damage(read)) {
        lose_buffer(source, read);
      } else {
        return read;
      }
    }
    return Status();
  }

  /// Reads a log buffer. Its header is checked here only to detect a foreign file: such a file has no valid slots, and
  /// invalid slots are skipped silently.
  Status read_buffer(const BufferSource& source) {
    format::LogBufferEntry entry = source.entry;
    std::uint64_t seed = 0;
    Status header = read_seed(source.name, format::FileType::kLogBuffer, entry.number, &seed);
    if (io::is_missing(header)) return header;
    if (!header.ok() && (!source.is_named || !is_damage(header))) return header;
    if (!source.is_named) entry.seed = seed;
    if (header.ok() && seed != entry.seed) {
      header = Status::corruption("another file has taken its place").in_file(source.name);
    }
    Result<LogBufferContent> content = LogBufferContent::read(salvage_.directory, entry);
    if (!content.ok()) return content.status();
    buffers_.push_back(*std::move(content));
    if (header.ok() && salvage_.is_unreadable_from(source.name, 0)) {
      return Status::corruption("parts of the log buffer cannot be read").in_file(source.name);
    }
    return header;
  }

  void lose_buffer(const BufferSource& source, const Status& why) {
    const bool is_missing = io::is_missing(why);
    RepairedFileCount& count = salvage_.figures.report.log_buffers;
    is_missing ? ++count.missing : ++count.damaged;
    is_missing ? salvage_.note(source.name, "the log buffer is missing") : salvage_.note(why);
    Loss loss;
    loss.file = source.name;
    loss.what = "it may have contained commits that were not in the log yet";
    lost_buffers_.push_back(std::move(loss));
  }

  /// Errors: kCorruption (the header does not verify, or belongs to another file), those that end a repair.
  Status read_seed(const std::string& name, format::FileType type, std::uint64_t number, std::uint64_t* seed) {
    const Result<std::unique_ptr<io::ReadableFile>> file = salvage_.directory.open(name, io::ReadMode::kCached);
    if (!file.ok()) return file.status();
    std::string bytes(std::min<std::uint64_t>((*file)->size_bytes(), format::kFileHeaderBytes), '\0');
    if (Status read = (*file)->read_exactly(0, std::as_writable_bytes(std::span(bytes))); !read.ok()) return read;
    const Result<format::FileHeader> header = format::decode_file_header(bytes, type);
    if (!header.ok()) return header.status().in_file(name, 0);
    if (header->number != number)
      return Status::corruption("its header has the number of another file").in_file(name, 0);
    *seed = header->seed;
    return Status();
  }

  // -- A segment ----------------------------------------------------------------------------------------------------

  Status read_segment(const SegmentSource& source) {
    LiveSegment segment = source.segment;
    Status why;
    if (!source.is_named) {
      why = read_seed(source.name, format::FileType::kLogSegment, segment.number, &segment.seed);
      if (!why.ok() && !is_damage(why)) return why;
      if (!why.ok()) return lose_segment(source, why);
      segment.is_recycled = true;  // Only the lost manifest knew. So bytes that are no record prove nothing.
    }
    Result<FileImage> bytes =
        read_file_image(salvage_.directory, source.name, kSegmentBytesReadMax, io::ReadMode::kDirect);
    if (io::is_missing(bytes.status()) || is_damage(bytes.status())) return lose_segment(source, bytes.status());
    if (!bytes.ok()) return bytes.status();
    salvage_.figures.report.read_bytes += bytes->size();

    Recovered recovered;
    recovered.memtable = std::make_unique<Memtable>();
    recovered.files.flushed_version = store_.files.flushed_version;
    LogReplay replay(env_.scheduler, recovered, kAnyManifest, AdoptionRule::kAnyTable);
    std::vector<BufferedBytes> slots;
    for (const LogBufferContent& buffer : buffers_) {
      for (const BufferedBytes& slot : buffer.of_segment(segment.number, segment.seed)) slots.push_back(slot);
    }
    SegmentReader reader(segment, *std::move(bytes), std::move(slots), replay);
    const Status header = reader.check_header();
    if (!header.ok() && !is_damage(header)) return header;
    Result<SegmentWalk> walk = reader.walk(!segment.closed);
    if (!walk.ok() && !is_damage(walk.status())) return walk.status();
    const SegmentEnds ends = ends_of(reader, walk.ok() ? walk->records : reader.walked().records, segment.seed);
    return keep(source, reader, ends, header, walk, std::move(recovered));
  }

  Status keep(const SegmentSource& source, const SegmentReader& reader, const SegmentEnds& ends, const Status& header,
              const Result<SegmentWalk>& walk, Recovered recovered) {
    const LiveSegment& segment = source.segment;
    if (ends.first_version != 0) end_unsealed(ends.first_version);
    last_version_ = std::max(last_version_, recovered.last_version);
    // Records that the device could not read may follow the last record read.
    const bool is_hidden = !ends.has_footer && salvage_.is_unreadable_from(source.name, reader.end_of_records());
    const bool is_whole = header.ok() && walk.ok() && !is_hidden;
    is_whole ? ++salvage_.figures.report.log_segments.whole : ++salvage_.figures.report.log_segments.damaged;
    if (!header.ok()) salvage_.note(header);
    if (!walk.ok()) salvage_.note(walk.status());

    const bool has_all = ends.has_footer || (segment.closed && recovered.last_version >= segment.last_version);
    if (!has_all) {
      Loss loss;
      loss.file = source.name;
      loss.offset = reader.end_of_records();
      loss.what = walk.ok() && !is_hidden ? "the log continues in a later segment, but this one has no end"
                                          : "the log is damaged here";
      open_end(std::move(loss), segment, !is_whole);
    }
    if (walk.ok()) salvage_.figures.report.torn_bytes += walk->torn_bytes;
    return merge(std::move(recovered), ends);
  }

  Status lose_segment(const SegmentSource& source, const Status& why) {
    const bool is_missing = io::is_missing(why);
    is_missing ? ++salvage_.figures.report.log_segments.missing : ++salvage_.figures.report.log_segments.damaged;
    Loss loss;
    loss.file = source.name;
    loss.what = is_missing ? "the log segment is missing" : std::string(why.message());
    is_missing ? salvage_.note(source.name, loss.what) : salvage_.note(why);
    open_end(std::move(loss), source.segment, true);
    return Status();
  }

  Status merge(Recovered recovered, const SegmentEnds& ends) {
    const std::vector<format::DeadId> retired = recovered.retired.list();
    if (Status room = log_.retired.reserve(retired.size()); !room.ok()) return room;
    for (const format::DeadId& dead : retired) log_.retired.add(dead.prefix, dead.drop_version);
    log_.adopted.insert(log_.adopted.end(), recovered.adopted.begin(), recovered.adopted.end());
    log_.ceiling = std::max({log_.ceiling, recovered.version_ceiling, recovered.last_version});
    const bool is_newer =
        recovered.last_tag && (!log_.last_tag || log_.last_tag->version < recovered.last_tag->version);
    if (is_newer) log_.last_tag = std::move(recovered.last_tag);
    if (ends.mark.number > log_.mark.number ||
        (ends.mark.number == log_.mark.number && ends.mark.durable_bytes > log_.mark.durable_bytes)) {
      log_.mark = ends.mark;
    }
    salvage_.figures.report.log_records += recovered.figures.log_records;
    salvage_.figures.report.commits += recovered.figures.commits;
    log_.memtables.push_back(std::move(recovered.memtable));
    return Status();
  }

  // -- Where a segment's records end --------------------------------------------------------------------------------

  /// Notes that the segment's records end before a footer. That is the end of the log, unless `is_lost` says otherwise
  /// or a later segment has records.
  void open_end(Loss loss, const LiveSegment& segment, bool is_lost) {
    end_unsealed(0);
    loss.smallest_version = std::max(last_version_, store_.files.flushed_version) + 1;
    if (segment.closed) loss.largest_version = segment.last_version;
    if (loss.largest_version < loss.smallest_version) return;  // All of it is in table files.
    unsealed_ = std::move(loss);
    is_lost_ = is_lost;
  }

  /// `first_version` is the first version of the log's next record. Zero means that there is none, or that the gap
  /// continues.
  void end_unsealed(CommitVersion first_version) {
    if (!unsealed_) return;
    Loss loss = *std::exchange(unsealed_, std::nullopt);
    if (!is_lost_ && first_version == 0) return;
    if (first_version != 0) loss.largest_version = std::min(loss.largest_version, first_version - 1);
    if (loss.largest_version < loss.smallest_version) return;
    salvage_.losses.add(std::move(loss));
  }

  const io::Env& env_;
  const SurveyedStore& store_;
  Salvage& salvage_;
  SalvagedLog log_;
  std::vector<LogBufferContent> buffers_;
  std::vector<Loss> lost_buffers_;
  CommitVersion last_version_ = 0;
  std::optional<Loss> unsealed_;
  bool is_lost_ = false;
};

}  // namespace

Result<SalvagedLog> salvage_log(const io::Env& env, const SurveyedStore& store, Salvage& salvage) {
  return LogSalvage(env, store, salvage).read();
}

}  // namespace varve::engine
