// Owns: iterating over a value file (value_file_check.h).
// Must never: load a commit into memory.
#include "engine/recovery/value_file_check.h"

#include <limits>
#include <memory>
#include <utility>

#include "engine/base/whole_file.h"
#include "engine/log/log_files.h"
#include "engine/recovery/log_replay.h"
#include "engine/recovery/segment_reader.h"
#include "format/log/file_header.h"
#include "io/os_error.h"

namespace varve::engine {

Status check_value_file(const io::Env& env, io::Directory& directory, const format::ValueFileEntry& entry) {
  const NamedFile name = format::named_file(format::FileType::kLogSegment, entry.number);
  Result<FileImage> image = read_file_image(directory, name, kSegmentBytesReadMax, io::ReadMode::kDirect);
  if (io::is_missing(image.status())) {
    return Status::corruption("the value file that the manifest names is missing").in_file(name);
  }
  if (!image.ok()) return image.status();
  // With this replay, every commit counts as flushed: it verifies the commits and applies none.
  Recovered nothing;
  nothing.memtable = std::make_unique<Memtable>();
  nothing.files.flushed_version = format::kCommitVersionMax;
  constexpr std::uint64_t kAnyManifest = std::numeric_limits<std::uint64_t>::max();
  LogReplay replay(env.scheduler, nothing, {kAnyManifest, kAnyManifest}, AdoptionRule::kAnyTable);
  // The segment is checked as not closed, because the entry does not contain the last version, which only the footer
  // has.
  LiveSegment segment;
  segment.number = entry.number;
  segment.seed = entry.seed;
  SegmentReader reader(segment, *std::move(image), {}, replay);
  if (Status header = reader.check_header(); !header.ok()) return header;
  const Result<SegmentWalk> walk = reader.walk(false);
  if (!walk.ok()) return walk.status();
  if (walk->sealed && walk->end == entry.size_bytes && reader.image().size() == entry.size_bytes) return Status();
  return Status::corruption("does not end at the size with which it was closed").in_file(name, walk->end);
}

}  // namespace varve::engine
