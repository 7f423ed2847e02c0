// Owns: the order in which the files of a new or reopened store are created.
// Must never: name a file anywhere before its bytes are durable.
#include "engine/recovery/establish.h"

#include <algorithm>
#include <utility>

#include "engine/base/sync_points.h"
#include "engine/manifest/stray_files.h"
#include "engine/recovery/segment_copy.h"
#include "format/bytes/bytes.h"
#include "io/probe.h"

namespace varve::engine {
namespace {

/// The initial content of a manifest, whose files are created.
struct Prepared {
  FileSet files;
  SegmentFile segment;
  BufferFile buffer;
};

/// Returns the next number of a set that no manifest contains yet.
std::uint64_t take_number(FileSet& files) noexcept {
  return files.file_number_ceiling++;
}

/// Adds a first segment, filled, and a log buffer.
Status prepare_log(const io::Env& env, io::Directory& directory, Prepared& prepared) {
  FileSet& files = prepared.files;
  Result<SegmentFile> segment = create_segment(env, directory, take_number(files), kSegmentBytesMin);
  if (!segment.ok()) return segment.status();
  if (Status filled = segment->file->fill(); !filled.ok()) return filled;
  segment->file->stop_filling();
  Result<BufferFile> buffer =
      create_log_buffer(env, directory, take_number(files), kLogBufferSlots, kLogBufferSlotBytes);
  if (!buffer.ok()) return buffer.status();

  LiveSegment& live = files.segments[segment->number];
  live.number = segment->number;
  live.seed = segment->seed;
  files.log_buffer.reset();
  if (buffer->number != 0) files.log_buffer = format::LogBufferEntry{buffer->number, buffer->seed, {}};
  prepared.segment = *std::move(segment);
  prepared.buffer = *std::move(buffer);
  return Status();
}

/// Returns the recovered set without doubt: sealed segments are closed, the segment in doubt is copied, and unused
/// segments are removed.
Result<Prepared> prepare(const io::Env& env, io::Directory& directory, const Recovered& recovered) {
  Prepared prepared;
  prepared.files = recovered.files;
  FileSet& files = prepared.files;
  for (const format::ClosedSegment& closed : recovered.found_closed) {
    files.segments.at(closed.number).close(closed);
  }
  for (const std::uint64_t unused : recovered.unused_segments) files.segments.erase(unused);
  if (!recovered.found_closed.empty()) io::probe("a segment was sealed, and the manifest did not know");
  if (recovered.in_doubt.has_value()) {
    io::probe("a segment in doubt was copied");
    const Result<LiveSegment> copy = copy_segment(env, directory, *recovered.in_doubt, take_number(files));
    if (!copy.ok()) return copy.status();
    files.segments.erase(recovered.in_doubt->number);
    files.segments.emplace(copy->number, *copy);
  }
  files.version_ceiling = std::max(files.version_ceiling, recovered.version_ceiling);
  if (Status made = prepare_log(env, directory, prepared); !made.ok()) return made;
  return prepared;
}

Result<Established> begin_manifest(const io::Env& env, io::Directory& directory, RootFile root, Prepared prepared) {
  Result<std::unique_ptr<Manifest>> manifest =
      Manifest::begin(env, directory, std::move(root), std::move(prepared.files));
  if (!manifest.ok()) return manifest.status();
  return Established{*std::move(manifest), std::move(prepared.segment), std::move(prepared.buffer)};
}

}  // namespace

format::StoreId draw_store_id(io::RandomSource& random) {
  format::StoreId id;
  for (std::size_t at = 0; at < id.size(); at += 8) {
    format::store_u64(reinterpret_cast<char*>(id.data()) + at, random.next());
  }
  return id;
}

Result<Established> make_store(const io::Env& env, io::Directory& directory, const format::StoredOptions& options) {
  Result<std::optional<RootFile>> found = RootFile::load(directory);
  if (!found.ok()) return found.status();
  RootFile root = found->has_value() ? **std::move(found) : RootFile();
  if (root.root().manifest_number != 0) return Status::exists("a store already exists here").in_file(directory.path());

  format::Root creating;
  creating.store_id = draw_store_id(env.random);
  creating.state = format::RootState::kCreating;
  if (Status replaced = root.replace(directory, env.random, creating); !replaced.ok()) return replaced;
  if (Status removed = remove_stray_files(directory, FileSet(), 0, StrayBallast::kKeep); !removed.ok()) return removed;
  if (Status held = directory.set_ballast(kBallastName, kBallastBytes); !held.ok()) return held;

  Prepared prepared;
  prepared.files.store_id = creating.store_id;
  prepared.files.stored_options = options;
  if (Status made = prepare_log(env, directory, prepared); !made.ok()) return made;
  return begin_manifest(env, directory, std::move(root), std::move(prepared));
}

Result<Established> establish(const io::Env& env, io::Directory& directory, Recovered& recovered) {
  // A process that died while it replaced CURRENT may have left a name that is not durable yet. It is made durable
  // first: otherwise, a power cut could restore an older CURRENT, which knows nothing of the files created from here
  // on.
  if (Status synced = directory.sync(sync_points::kRoot); !synced.ok()) return synced;
  // If the device is too full for the ballast, the store opens all the same. Its first segment is then for drops.
  const Status held = directory.set_ballast(kBallastName, kBallastBytes);
  if (!held.ok() && held.code() != Code::kNoSpace) return held;
  bool is_ballast_whole = held.ok();
  Result<Prepared> prepared = prepare(env, directory, recovered);
  if (prepared.code() == Code::kNoSpace) {
    io::probe("an open gave the ballast up");
    is_ballast_whole = false;
    prepared = Ballast(env.scheduler, directory).with_room([&] { return prepare(env, directory, recovered); });
  }
  if (!prepared.ok()) return prepared.status();
  prepared->segment.is_reserved = !is_ballast_whole;
  Result<Established> established = begin_manifest(env, directory, recovered.root, *std::move(prepared));
  if (!established.ok()) return established;

  recovered.files = established->manifest->files();
  recovered.found_closed.clear();
  recovered.unused_segments.clear();
  recovered.in_doubt.reset();
  const std::uint64_t manifest_number = established->manifest->mark().number;
  if (Status removed = remove_stray_files(directory, recovered.files, manifest_number, StrayBallast::kKeep);
      !removed.ok()) {
    return removed;
  }
  return established;
}

}  // namespace varve::engine
