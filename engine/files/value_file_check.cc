// Owns: walking a value file (value_file_check.h).
// Must never: take a commit into memory.
#include "engine/files/value_file_check.h"

#include <limits>
#include <memory>
#include <utility>

#include "engine/files/log_files.h"
#include "engine/files/log_replay.h"
#include "engine/files/segment_reader.h"
#include "engine/files/whole_file.h"
#include "format/file_header.h"
#include "io/os_error.h"

namespace varve::engine {

Status check_value_file(const io::Env& env, io::Directory& directory, const format::ValueFileEntry& entry) {
  const std::string name = format::file_name(format::FileType::kLogSegment, entry.number);
  Result<FileImage> image = read_file_image(directory, name, kSegmentBytesReadMax, io::ReadMode::kDirect);
  if (io::is_missing(image.status())) {
    return Status::corruption("the value file that the manifest names is missing").in_file(name);
  }
  if (!image.ok()) return image.status();
  // A replay for which everything stands in tables: it verifies, and takes nothing.
  Recovered nothing;
  nothing.memtable = std::make_unique<Memtable>();
  nothing.files.flushed_version = format::kCommitVersionMax;
  constexpr std::uint64_t kAnyManifest = std::numeric_limits<std::uint64_t>::max();
  LogReplay replay(env.scheduler, nothing, {kAnyManifest, kAnyManifest}, AdoptionRule::kAnyTable);
  // As one that the manifest does not know as closed: it tells no last version any more, which the footer has.
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
