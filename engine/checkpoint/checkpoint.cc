// Owns: the steps of a checkpoint (checkpoint.h).
// Must never: name a state without having all its files.
#include "engine/checkpoint/checkpoint.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint_target.h"
#include "engine/recovery/establish.h"
#include "format/log/file_header.h"

namespace varve::engine {

namespace {

/// Marks segments that are closed, but that the manifest has not recorded as closed yet.
void enter_closed(const std::vector<format::ClosedSegment>& closed, FileSet& files) {
  for (const format::ClosedSegment& segment : closed) {
    const auto found = files.segments.find(segment.number);
    if (found == files.segments.end() || found->second.closed) continue;
    found->second.close(segment);
  }
}

/// Reduces the store's set to that of a checkpoint: the tables, and the later closed segments. Returns the last version
/// in it. K1: tables contain all commits up to the flushed version and none above. Closed segments are consecutive, so
/// the last of them determines the end.
CommitVersion reduce_to_closed(FileSet& files) {
  CommitVersion last = files.flushed_version;
  std::erase_if(files.segments, [&](const auto& entry) {
    const LiveSegment& segment = entry.second;
    return !segment.closed || segment.last_version <= files.flushed_version;
  });
  for (const auto& [number, segment] : files.segments) last = std::max(last, segment.last_version);
  files.log_buffer.reset();
  // A flush may have dropped versions between its own last version and the then visible one. The newest state of every
  // key up to `last` is there all the same.
  files.oldest_readable_version = std::min(files.oldest_readable_version, last);
  return last;
}

Status take_files(io::Directory& from, const FileSet& files, CheckpointTarget& target) {
  for (const auto& [number, table] : files.tables) {
    const std::string name = format::file_name(format::FileType::kTable, number);
    if (Status taken = target.take(from, name, table.size_bytes, table.content_hash); !taken.ok()) return taken;
  }
  for (const auto& [number, segment] : files.segments) {
    const std::string name = format::file_name(format::FileType::kLogSegment, number);
    if (Status taken = target.take(from, name, segment.size_bytes, std::nullopt); !taken.ok()) return taken;
  }
  for (const auto& [number, values] : files.value_files) {
    const std::string name = format::file_name(format::FileType::kLogSegment, number);
    if (Status taken = target.take(from, name, values.size_bytes, std::nullopt); !taken.ok()) return taken;
  }
  return Status();
}

}  // namespace

Result<CheckpointStatistics> make_checkpoint(const CheckpointSource& source, std::string_view path) {
  Result<std::unique_ptr<CheckpointTarget>> target = CheckpointTarget::begin(source.env, path);
  if (!target.ok()) return target.status();
  const Result<CommitVersion> acknowledged = source.queue.close_segment();  // K2
  if (!acknowledged.ok()) return acknowledged.status();

  // The order matters: segments that are recorded between the two calls are then already in the set.
  const std::vector<format::ClosedSegment> closed = source.supply.unrecorded();
  const HeldFiles held = source.tree.hold_files();  // K3
  FileSet files = held.files;
  enter_closed(closed, files);
  const CommitVersion version = reduce_to_closed(files);
  assert(version >= *acknowledged);
  // Another segment may have been closed since. A commit must not be reported or kept before it is published.
  if (Status published = source.queue.await_published(version); !published.ok()) return published;

  if (Status taken = take_files(source.directory, files, **target); !taken.ok()) return taken;
  files.store_id = draw_store_id(source.env.random);
  if (Status named = (*target)->finish(std::move(files), version, source.manifest.root_unknown_fields()); !named.ok()) {
    return named;
  }
  CheckpointStatistics figures = (*target)->figures();
  figures.version = DateTime{version};
  return figures;
}

}  // namespace varve::engine
