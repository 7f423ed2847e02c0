// Owns: the order of edits (first on disk, then in memory), the switch to a new manifest, and the clean end.
// Must never: continue with a manifest whose end is in doubt.
#include "engine/manifest/manifest.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <new>
#include <utility>

#include "engine/base/sync_points.h"
#include "engine/manifest/clean_end.h"
#include "engine/manifest/manifest_file.h"
#include "engine/manifest/stray_files.h"
#include "io/probe.h"

namespace varve::engine {
namespace {

/// Returns `files` with a ceiling such that a manifest of this number can begin with it.
FileSet with_number_taken(FileSet files, std::uint64_t number) {
  files.file_number_ceiling = std::max(files.file_number_ceiling, number + 1 + kNumberStep);
  return files;
}

/// Writes a whole manifest, including its name. On a full disk, `ballast` gives room for it, unless it is null.
Result<ManifestFile> write_manifest(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                    const FileSet& files, Ballast* ballast) {
  const auto create = [&] { return ManifestFile::create(env, directory, number, files); };
  Result<ManifestFile> file = ballast == nullptr ? create() : ballast->with_room(create);
  if (!file.ok()) return file;
  if (Status synced = directory.sync(sync_points::kManifestNames); !synced.ok()) return synced;
  return file;
}

/// Names a manifest in CURRENT, with the state "open". On a full disk, the ballast gives room for that.
Status name_manifest(const io::Env& env, io::Directory& directory, Ballast& ballast, RootFile& root,
                     const ManifestFile& file, const FileSet& files) {
  format::Root next;
  next.store_id = files.store_id;
  next.features = files.features;
  next.unknown_fields = root.root().unknown_fields;
  next.manifest_number = file.number();
  next.manifest_seed = file.seed();
  next.state = format::RootState::kOpen;
  Status without_room;
  Status named = ballast.with_room([&] {
    Status replaced = root.replace(directory, env.random, next);
    if (replaced.code() == Code::kNoSpace) without_room = replaced;
    return replaced;
  });
  // If a retry is refused, an earlier attempt did change CURRENT, and its result is returned.
  return named.code() == Code::kFenced && !without_room.ok() ? without_room : named;
}

}  // namespace

struct Manifest::State {
  State(const io::Env& environment, io::Directory& store, std::unique_ptr<Ballast> held_back, RootFile current,
        ManifestFile manifest, FileSet set)
      : env(environment),
        directory(store),
        ballast(std::move(held_back)),
        writing(environment.scheduler),
        root(std::move(current)),
        file(std::move(manifest)),
        next_number(file.number() + 1),
        length_max(length_max_of(file)),
        reading(environment.scheduler),
        files(std::move(set)),
        mark_number(file.number()),
        mark_bytes(file.durable_bytes()) {}

  FileSet files_now() const VARVE_EXCLUDES(reading) {
    const io::MutexGuard guard(reading);
    return files;
  }
  std::uint64_t number_ceiling() const VARVE_EXCLUDES(reading) {
    const io::MutexGuard guard(reading);
    return files.file_number_ceiling;
  }
  Status append(const format::ManifestEdit& edit) VARVE_REQUIRES(writing);
  Status confirm_owner() VARVE_REQUIRES(writing);
  Status add_features(std::uint64_t incompatible) VARVE_REQUIRES(writing);
  Status begin_afresh(FileSet next) VARVE_REQUIRES(writing);
  Status begin_afresh_if_long() VARVE_REQUIRES(writing);
  Status switch_to(ManifestFile fresh, FileSet next) VARVE_REQUIRES(writing);
  Status write_clean_root(CommitVersion last_version) VARVE_REQUIRES(writing);
  void adopt(FileSet next) VARVE_REQUIRES(writing);

  /// Returns the length in bytes above which a new manifest is begun, see kManifestBytesKept.
  static std::uint64_t length_max_of(const ManifestFile& file) noexcept {
    return std::max(kManifestBytesKept, 2 * file.durable_bytes());
  }

  const io::Env& env;
  io::Directory& directory;
  const std::unique_ptr<Ballast> ballast;

  io::Mutex writing;  // Held across I/O: edits are written one at a time.
  RootFile root VARVE_GUARDED_BY(writing);
  ManifestFile file VARVE_GUARDED_BY(writing);
  std::uint64_t next_number VARVE_GUARDED_BY(writing);
  std::uint64_t length_max VARVE_GUARDED_BY(writing);
  Status failure VARVE_GUARDED_BY(writing);

  mutable io::Mutex reading;  // Held for a copy.
  FileSet files VARVE_GUARDED_BY(reading);

  // Every leader of a commit group reads them without a mutex; see Manifest::mark().
  std::atomic<std::uint64_t> mark_number;
  std::atomic<std::uint64_t> mark_bytes;
};

Manifest::Manifest(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Manifest::~Manifest() = default;

Result<std::unique_ptr<Manifest>> Manifest::begin(const io::Env& env, io::Directory& directory, RootFile root,
                                                  FileSet files) {
  const std::uint64_t number = files.file_number_ceiling;
  files = with_number_taken(std::move(files), number);
  auto ballast = std::make_unique<Ballast>(env.scheduler, directory);
  Result<ManifestFile> file = write_manifest(env, directory, number, files, ballast.get());
  if (!file.ok()) return file.status();
  if (Status named = name_manifest(env, directory, *ballast, root, *file, files); !named.ok()) return named;
  auto state =
      std::make_unique<State>(env, directory, std::move(ballast), std::move(root), *std::move(file), std::move(files));
  return std::unique_ptr<Manifest>(new Manifest(std::move(state)));
}

Status Manifest::append(const format::ManifestEdit& edit) {
  const io::MutexGuard guard(state_->writing);
  return state_->append(edit);
}

bool Manifest::is_stopped() const {
  const io::MutexGuard guard(state_->writing);
  return !state_->failure.ok();
}

Status Manifest::add_features(std::uint64_t incompatible) {
  const io::MutexGuard guard(state_->writing);
  return state_->add_features(incompatible);
}

Result<std::uint64_t> Manifest::next_file_number() {
  const io::MutexGuard guard(state_->writing);
  if (!state_->failure.ok()) return state_->failure;
  const std::uint64_t ceiling = state_->number_ceiling();
  if (state_->next_number >= ceiling) {
    format::ManifestEdit edit;
    edit.file_number_ceiling = ceiling + kNumberStep;
    if (Status raised = state_->append(edit); !raised.ok()) return raised;
  }
  return state_->next_number++;  // N3
}

Ballast& Manifest::ballast() noexcept {
  return *state_->ballast;
}

ManifestMark Manifest::mark() const noexcept {
  // The length is zero, which claims nothing, while the number changes. It is stored between two changes of the number.
  // So a length that is read between two equal numbers belongs to that number.
  ManifestMark mark;
  do {
    mark.number = state_->mark_number.load(std::memory_order_acquire);
    mark.durable_bytes = state_->mark_bytes.load(std::memory_order_acquire);
  } while (state_->mark_number.load(std::memory_order_acquire) != mark.number);
  return mark;
}

FileSet Manifest::files() const {
  return state_->files_now();
}

std::uint64_t Manifest::size_bytes() const noexcept {
  return mark().durable_bytes;
}

std::string Manifest::root_unknown_fields() const {
  const io::MutexGuard guard(state_->writing);
  return state_->root.root().unknown_fields;
}

Status Manifest::finish(CommitVersion last_version) {
  const io::MutexGuard guard(state_->writing);
  format::ManifestEdit edit;
  edit.file_number_ceiling = state_->next_number;
  edit.log_buffer = format::LogBufferEntry{};  // Number zero: none.
  const FileSet present = state_->files_now();
  // Readers may have seen a version above the commits of a segment that is removed.
  edit.version_ceiling = std::max(present.version_ceiling, last_version);
  for (const auto& [number, segment] : present.segments) {
    if (segment.closed && segment.last_version <= present.flushed_version) edit.removed_segments.push_back(number);
  }
  if (Status recorded = state_->append(edit); !recorded.ok()) return recorded;
  if (Status closed = state_->write_clean_root(last_version); !closed.ok()) return closed;
  const FileSet files = state_->files_now();
  return remove_stray_files(state_->directory, files, state_->file.number(), StrayBallast::kRemove);
}

// -- Under `writing` --------------------------------------------------------------------------------------------------

Status Manifest::State::append(const format::ManifestEdit& edit) {
  if (!failure.ok()) return failure;
  FileSet next = files_now();
  const Status applied = next.apply(edit);
  assert(applied.ok());  // Otherwise, an edit of this store contradicts its own set.

  if (Status ours = confirm_owner(); !ours.ok()) return ours;
  failure = file.append(edit);  // From here on, a file in doubt is never used again.
  if (failure.code() == Code::kFenced) return failure;
  if (!failure.ok()) return begin_afresh(std::move(next));
  adopt(std::move(next));  // N1
  mark_bytes.store(file.durable_bytes(), std::memory_order_release);
  return begin_afresh_if_long();
}

/// Checks that the store has not changed hands: otherwise, the other owner's edits or this one's would be lost. If the
/// check itself fails, this edit is refused, and the next edit checks again.
Status Manifest::State::confirm_owner() {
  Status ours = directory.confirm_owner();
  if (ours.ok()) ours = root.confirm(directory);
  if (ours.ok()) ours = file.confirm(directory);
  const bool is_lost = ours.code() == Code::kFenced || ours.code() == Code::kLocked;
  if (is_lost) failure = ours;
  return ours;
}

/// Continues after a failed append. `next` is the set with the edit. On success, the failure is cleared.
Status Manifest::State::begin_afresh(FileSet next) {
  io::probe("a manifest was begun afresh behind a failure");
  try {
    next = with_number_taken(std::move(next), next_number);
    Result<ManifestFile> fresh = write_manifest(env, directory, next_number, next, ballast.get());
    if (!fresh.ok()) return failure = fresh.status();
    return switch_to(*std::move(fresh), std::move(next));
  } catch (const std::bad_alloc&) {
    return failure = Status::out_of_memory();
  }
}

Status Manifest::State::add_features(std::uint64_t incompatible) {
  if (!failure.ok()) return failure;
  FileSet next = files_now();
  if ((next.features.incompatible & incompatible) == incompatible) return Status();
  if (Status ours = confirm_owner(); !ours.ok()) return ours;
  try {
    next.features.incompatible |= incompatible;
    next = with_number_taken(std::move(next), next_number);
    Result<ManifestFile> fresh = write_manifest(env, directory, next_number, next, nullptr);
    if (!fresh.ok()) return fresh.status();
    io::probe("a feature was added to a store");
    return switch_to(*std::move(fresh), std::move(next));
  } catch (const std::bad_alloc&) {
    return failure.ok() ? Status::out_of_memory() : failure;  // The caller learns whether the manifest has stopped.
  }
}

/// Keeps the manifest from growing without limit. If no new manifest can be written, the present one remains usable.
Status Manifest::State::begin_afresh_if_long() {
  if (file.durable_bytes() <= length_max) return Status();
  try {
    FileSet next = with_number_taken(files_now(), next_number);
    Result<ManifestFile> fresh = write_manifest(env, directory, next_number, next, nullptr);
    if (fresh.ok()) {
      io::probe("a manifest was begun afresh for its length");
      return switch_to(*std::move(fresh), std::move(next));
    }
  } catch (const std::bad_alloc&) {
    if (!failure.ok()) return failure;
  }
  length_max *= 2;
  return Status();
}

/// After a failure here, it is unknown which manifest CURRENT names, so the manifest stops.
Status Manifest::State::switch_to(ManifestFile fresh, FileSet next) {
  if (Status ours = directory.confirm_owner(); ours.code() == Code::kFenced) return failure = ours;
  failure = Status::out_of_memory();  // It remains if memory ends while CURRENT is replaced.
  if (Status named = name_manifest(env, directory, *ballast, root, fresh, next); !named.ok()) return failure = named;
  ++next_number;
  adopt(std::move(next));  // N1
  mark_bytes.store(0, std::memory_order_release);
  mark_number.store(fresh.number(), std::memory_order_release);
  mark_bytes.store(fresh.durable_bytes(), std::memory_order_release);
  length_max = length_max_of(fresh);
  file = std::move(fresh);
  return failure = Status();
}

void Manifest::State::adopt(FileSet next) {
  const io::MutexGuard guard(reading);
  files = std::move(next);
}

Status Manifest::State::write_clean_root(CommitVersion last_version) {
  if (Status ours = confirm_owner(); !ours.ok()) return ours;
  const FileSet set = files_now();
  // Readers may have seen versions up to the ceiling before a crash that lost their commits.
  last_version = std::max(last_version, set.version_ceiling);
  Result<format::Root> clean = make_clean_root(directory, root.root(), set, file, last_version);
  if (!clean.ok()) return clean.status();
  failure = Status(Code::kClosed, "the manifest was finished");
  return root.replace(directory, env.random, *std::move(clean));
}

}  // namespace varve::engine
