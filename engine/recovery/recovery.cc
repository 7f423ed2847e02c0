// Owns: the order of recovery's first half (CURRENT, manifest, log buffer, segments), and the search for a store.
// Must never: write, or open a file for anything except reading.
#include "engine/recovery/recovery.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/log_buffer_content.h"
#include "engine/log/log_files.h"
#include "engine/manifest/clean_end.h"
#include "engine/manifest/manifest_file.h"
#include "engine/manifest/stray_files.h"
#include "engine/manifest/unfinished_loads.h"
#include "engine/recovery/establish.h"
#include "engine/recovery/log_replay.h"
#include "engine/recovery/presence_check.h"
#include "engine/recovery/segment_images.h"
#include "engine/recovery/segment_reader.h"
#include "format/log/file_header.h"
#include "format/log/warm_list.h"

namespace varve::engine {
namespace {

/// The names in a directory besides CURRENT.
struct OtherNames {
  std::string foreign;   // the first in byte order, if any
  std::string numbered;  // the first in byte order, if any
  std::uint64_t number_max = 0;
};

Result<OtherNames> look_at_names(io::Directory& directory) {
  const Result<std::vector<io::DirectoryEntry>> entries = directory.list();
  if (!entries.ok()) return entries.status();
  OtherNames names;
  const auto keep_first = [](std::string& first, const std::string& name) {
    if (first.empty() || name < first) first = name;
  };
  for (const io::DirectoryEntry& entry : *entries) {
    if (entry.name == format::kRootName || entry.name == kRootTemporaryName || entry.name == kLockName) continue;
    // Without the files of a store, the list of its cached blocks means nothing.
    if (entry.name == format::kWarmListName || entry.name == kWarmListTemporaryName) continue;
    const Result<format::FileId> id = format::parse_file_name(entry.name);
    if (id.ok() || entry.name == kBallastName) {
      keep_first(names.numbered, entry.name);
      if (id.ok()) names.number_max = std::max(names.number_max, id->number);
    } else {
      keep_first(names.foreign, entry.name);
    }
  }
  return names;
}

Result<StoreFound> judge_root(io::Directory& directory, const format::Root& root) {
  if (root.state != format::RootState::kCreating) return StoreFound::kStore;
  const Result<OtherNames> names = look_at_names(directory);
  if (!names.ok()) return names.status();
  if (names->number_max > kNumberMaxOfMaking) {
    return Status::corruption("says that the store is being created, but " + names->numbered +
                              " and other files of a store exist")
        .in_file(format::named_file(format::kRootName));
  }
  return StoreFound::kUnfinished;
}

// -- Reading a store --------------------------------------------------------------------------------------------------

class StoreReader {
 public:
  StoreReader(const io::Env& env, io::Directory& directory, bool for_writing, Recovered& recovered) noexcept
      : env_(env), directory_(directory), for_writing_(for_writing), recovered_(recovered) {}

  Status read() {
    if (Status read = read_file_set(); !read.ok()) return read;
    if (Status checked = check_file_set(); !checked.ok()) return checked;
    if (Status begun = begin_memory(); !begun.ok()) return begun;
    if (recovered_.files.log_buffer.has_value()) {
      Result<LogBufferContent> buffer = LogBufferContent::read(directory_, *recovered_.files.log_buffer);
      if (!buffer.ok()) return buffer.status();
      buffer_ = *std::move(buffer);
    }
    LogReplay replay(env_.scheduler, recovered_, manifest_);
    SegmentImages images(env_, directory_, recovered_.files.segments);
    for (const auto& [number, segment] : recovered_.files.segments) {
      Result<FileImage> image = images.next();
      if (!image.ok()) return image.status();
      Result<FileImage> used = read_segment(segment, *std::move(image), replay);
      if (!used.ok()) return used.status();
      images.take_back(*std::move(used));
    }
    if (Status dropped = drop_loads(); !dropped.ok()) return dropped;
    return check_versions();
  }

 private:
  const format::Root& root() const noexcept { return recovered_.root.root(); }

  Status read_file_set() {
    if (Status known = format::check_features(root().features, for_writing_); !known.ok()) {
      return known.in_file(format::named_file(format::kRootName));
    }
    recovered_.clean = root().state == format::RootState::kClean;
    recovered_.figures.clean = recovered_.clean;
    Result<ManifestContent> manifest = read_manifest(directory_, root());
    if (!manifest.ok()) return manifest.status();
    recovered_.files = std::move(manifest->files);
    recovered_.figures.torn_bytes += manifest->torn_bytes;
    manifest_ = {root().manifest_number, manifest->valid_bytes};
    const Status known = format::check_features(recovered_.files.features, for_writing_);
    return known.ok() ? known : known.in_file(format::named_file(format::FileType::kManifest, manifest_.number));
  }

  Status check_file_set() const {
    const FileSet& files = recovered_.files;
    const NamedFile name = format::named_file(format::FileType::kManifest, manifest_.number);
    if (files.store_id != root().store_id) {
      return Status::corruption("belongs to another store than CURRENT").in_file(name);
    }
    if (files.features != root().features) {
      return Status::corruption("its features differ from those in CURRENT").in_file(name);
    }
    if (manifest_.number >= files.file_number_ceiling) {
      return Status::corruption("its own number is not below the ceiling it records").in_file(name);
    }
    if (Status there = check_written_files(); !there.ok()) return there;
    for (const format::DeadId& dead : files.dead_ids) {
      if (dead.drop_version == 0) return Status::corruption("a dead id has no drop version").in_file(name);
    }
    return recovered_.clean ? check_clean_segments(root(), files) : Status();
  }

  /// Checks that each file exists with its size. Its content is verified when it is read.
  Status check_written_files() const {
    const FileSet& files = recovered_.files;
    std::vector<WrittenFile> written;
    written.reserve(files.tables.size() + files.value_files.size());
    for (const auto& [number, table] : files.tables) {
      written.push_back({{format::FileType::kTable, number}, table.size_bytes, "table file"});
    }
    for (const auto& [number, values] : files.value_files) {
      written.push_back({{format::FileType::kLogSegment, number}, values.size_bytes, "value file"});
    }
    return check_presence(directory_, written);
  }

  Status begin_memory() {
    const FileSet& files = recovered_.files;
    recovered_.memtable = std::make_unique<Memtable>();
    recovered_.version_ceiling = files.version_ceiling;
    recovered_.last_tag = files.commit_tag;
    if (Status room = recovered_.retired.reserve(files.dead_ids.size()); !room.ok()) return room;
    for (const format::DeadId& dead : files.dead_ids) recovered_.retired.add(dead.prefix, dead.drop_version);
    return Status();
  }

  /// Returns an image that is no longer needed. It may be empty.
  Result<FileImage> read_segment(const LiveSegment& segment, FileImage image, LogReplay& replay) {
    std::vector<BufferedBytes> slots;
    if (!segment.closed) slots = buffer_.of_segment(segment.number, segment.seed);
    SegmentReader reader(segment, std::move(image), std::move(slots), replay);
    if (Status header = reader.check_header(); !header.ok()) return header;
    if (log_ended_) return skip_unused(segment, reader);
    if (recovered_.clean) {
      if (Status footer = check_clean_footer(root(), segment.number, reader.image()); !footer.ok()) return footer;
    }
    Result<SegmentWalk> walk = reader.walk(!segment.closed);
    if (!walk.ok()) return walk.status();
    return keep(segment, reader, *std::move(walk));
  }

  /// If the previous segment was not closed properly, this segment must be unused.
  Result<FileImage> skip_unused(const LiveSegment& segment, SegmentReader& reader) {
    if (Status unused = reader.check_unused(); !unused.ok()) return unused;
    recovered_.unused_segments.push_back(segment.number);
    return reader.take_image();
  }

  FileImage keep(const LiveSegment& segment, SegmentReader& reader, SegmentWalk walk) {
    recovered_.figures.torn_bytes += walk.torn_bytes;
    recovered_.figures.log_bytes += walk.end - kFirstRecordOffset;
    log_ended_ = !walk.sealed || walk.end != reader.image().size();
    // The first record of a segment was framed after the previous segment was durably sealed and cut.
    FileImage used;
    if (recovered_.in_doubt.has_value() && !walk.records.empty()) {
      SegmentInDoubt& before = *recovered_.in_doubt;
      recovered_.found_closed.push_back({before.number, before.image.size(), before.last_version, {}});
      used = std::move(before.image);
      recovered_.in_doubt.reset();
    }
    if (segment.closed) return reader.take_image();
    if (walk.last_version == 0) {
      recovered_.unused_segments.push_back(segment.number);
    } else {
      recovered_.in_doubt =
          SegmentInDoubt{segment.number, segment.seed, reader.take_image(), std::move(walk.records), walk.last_version};
    }
    return used;
  }

  /// Drops the loads that the log, which was read completely, did not adopt.
  Status drop_loads() {
    const Result<std::vector<format::DeadId>> dead = drop_unfinished_loads(recovered_.adopted, recovered_.files);
    if (!dead.ok()) return dead.status().in_file(format::named_file(format::FileType::kManifest, manifest_.number));
    if (Status room = recovered_.retired.reserve(dead->size()); !room.ok()) return room;
    for (const format::DeadId& id : *dead) recovered_.retired.add(id.prefix, id.drop_version);
    return Status();
  }

  Status check_versions() {
    recovered_.last_version = std::max(recovered_.last_version, recovered_.files.flushed_version);
    if (recovered_.clean) {
      const CommitVersion last = root().last_version;
      if (last < recovered_.last_version || last < recovered_.files.version_ceiling) {
        return Status::corruption("names last version " + std::to_string(last) + ", but the log continues to " +
                                  std::to_string(std::max(recovered_.last_version, recovered_.files.version_ceiling)))
            .in_file(format::named_file(format::kRootName));
      }
      recovered_.version_ceiling = last;
    }
    return Status();
  }

  const io::Env& env_;
  io::Directory& directory_;
  const bool for_writing_;
  Recovered& recovered_;
  ManifestMark manifest_;
  LogBufferContent buffer_;
  bool log_ended_ = false;  // the last segment read was not sealed and cut: later segments must be unused
};

}  // namespace

Result<StoreFound> find_store(io::Directory& directory) {
  Result<std::optional<RootFile>> root = RootFile::load(directory);
  if (!root.ok()) return root.status();
  if (root->has_value()) return judge_root(directory, (*root)->root());

  const Result<OtherNames> names = look_at_names(directory);
  if (!names.ok()) return names.status();
  if (names->numbered.empty() && names->foreign.empty()) return StoreFound::kNothing;
  // Another process may have created the store since the first check. Its owner may also replace CURRENT between the look
  // for the file and the read: in a cluster, the former content is gone then.
  constexpr int kLooksMax = 8;
  for (int look = 0; look < kLooksMax; ++look) {
    root = RootFile::load(directory);
    if (!root.ok()) return root.status();
    if (root->has_value()) return judge_root(directory, (*root)->root());
  }
  const std::string path(directory.path());
  if (!names->numbered.empty()) {
    return Status::corruption("CURRENT is missing, but " + names->numbered +
                              " and other files of a store exist; an unfinished checkpoint looks like this")
        .in_file(path)
        .at_place({FileKind::kRoot});
  }
  return Status::invalid_argument("not a Varve store: it contains " + names->foreign + ", but no CURRENT")
      .in_file(path);
}

Result<Recovered> read_store(const io::Env& env, io::Directory& directory, bool for_writing) {
  const Result<StoreFound> found = find_store(directory);
  if (!found.ok()) return found.status();
  Result<std::optional<RootFile>> root = RootFile::load(directory);
  if (!root.ok()) return root.status();
  if (*found != StoreFound::kStore || !root->has_value()) {
    return Status::not_found("there is no store here").in_file(directory.path());
  }
  Recovered recovered;
  recovered.root = **std::move(root);
  if (Status read = StoreReader(env, directory, for_writing, recovered).read(); !read.ok()) return read;
  return recovered;
}

}  // namespace varve::engine
