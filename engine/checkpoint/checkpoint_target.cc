// Owns: the order in which a checkpoint's files are made and, after a failure, removed (checkpoint_target.h).
// Must never: write CURRENT before the directory was synced with all other names in it.
#include "engine/checkpoint/checkpoint_target.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "engine/base/expected_file.h"
#include "engine/base/given_path.h"
#include "engine/base/sync_points.h"
#include "engine/manifest/clean_end.h"
#include "engine/manifest/manifest.h"
#include "engine/manifest/manifest_file.h"
#include "engine/manifest/root_file.h"
#include "format/bytes/bytes.h"
#include "format/bytes/content_hasher.h"
#include "format/log/file_header.h"
#include "io/os_error.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// Size of a copied piece in bytes: large enough for few device calls, small enough that its memory does not matter.
constexpr std::size_t kCheckpointPieceBytes = std::size_t{1} << 20;

Status check_empty(io::Directory& directory) {
  const Result<std::vector<io::DirectoryEntry>> entries = directory.list();
  if (!entries.ok()) return entries.status();
  for (const io::DirectoryEntry& entry : *entries) {
    if (entry.name == kLockName && entry.regular_file) continue;
    return Status::exists("the target directory must be absent or empty, but contains " + entry.name)
        .in_file(directory.path());
  }
  return Status();
}

Status check_size(std::string_view name, std::uint64_t found, std::uint64_t expected) {
  if (found == expected) return Status();
  return Status::corruption("has " + std::to_string(found) + " bytes, but the manifest records " +
                            std::to_string(expected))
      .in_file(format::named_file(name));
}

}  // namespace

CheckpointTarget::CheckpointTarget(const io::Env& env, std::unique_ptr<io::Directory> directory,
                                   std::unique_ptr<io::DirectoryLock> lock) noexcept
    : env_(env), directory_(std::move(directory)), lock_(std::move(lock)) {}

Result<std::unique_ptr<CheckpointTarget>> CheckpointTarget::begin(const io::Env& env, std::string_view path) {
  if (Status made = env.files.create_directory(path, sync_points::kStoreDirectory); !made.ok()) {
    return answer_for_path(made);
  }
  Result<std::unique_ptr<io::Directory>> directory = env.files.open_directory(path);
  if (!directory.ok()) return answer_for_path(directory.status());
  // The check runs once without the lock, because taking the lock creates a file, and once under it.
  if (Status empty = check_empty(**directory); !empty.ok()) return empty;
  Result<std::unique_ptr<io::DirectoryLock>> lock =
      (*directory)->lock(kLockName, io::LockMode::kExclusive, std::chrono::milliseconds(0));
  if (!lock.ok()) return lock.status();
  if (Status empty = check_empty(**directory); !empty.ok()) return empty;
  return std::unique_ptr<CheckpointTarget>(new CheckpointTarget(env, *std::move(directory), *std::move(lock)));
}

CheckpointTarget::~CheckpointTarget() {
  if (!finished_) give_up();
}

Status CheckpointTarget::take(io::Directory& from, const std::string& name, std::uint64_t size_bytes,
                              std::optional<std::uint64_t> content_hash) {
  names_.push_back(name);  // Before the file exists: afterwards nothing may fail.
  const Status linked = from.link(name, *directory_);
  if (!linked.ok()) names_.pop_back();
  if (linked.code() == Code::kUnsupported) return copy(from, name, size_bytes, content_hash);
  if (!linked.ok()) return linked;
  ++figures_.files_linked;
  figures_.linked_bytes += size_bytes;
  const Result<std::unique_ptr<io::ReadableFile>> file = open_expected(*directory_, name, io::ReadMode::kCached);
  if (!file.ok()) return file.status();
  return check_size(name, (*file)->size_bytes(), size_bytes);
}

Status CheckpointTarget::copy(io::Directory& from, const std::string& name, std::uint64_t size_bytes,
                              std::optional<std::uint64_t> content_hash) {
  io::probe("a checkpoint copied a file");
  const Result<std::unique_ptr<io::ReadableFile>> source = open_expected(from, name, io::ReadMode::kDirect);
  if (!source.ok()) return source.status();
  if (Status same = check_size(name, (*source)->size_bytes(), size_bytes); !same.ok()) return same;
  names_.push_back(name);
  const Result<std::unique_ptr<io::WritableFile>> file = directory_->create(name);
  if (!file.ok()) {
    names_.pop_back();
    return file.status();
  }

  format::ContentHasher hasher;
  std::string piece;
  for (std::uint64_t offset = 0; offset < size_bytes; offset += piece.size()) {
    piece.resize(std::min<std::uint64_t>(kCheckpointPieceBytes, size_bytes - offset));
    if (Status read = (*source)->read_exactly(offset, std::as_writable_bytes(std::span(piece))); !read.ok()) {
      return read;
    }
    hasher.update(piece);
    if (Status written = (*file)->append(format::as_bytes(piece)); !written.ok()) return written;
  }
  if (content_hash && hasher.digest() != *content_hash) {
    return Status::corruption("its content differs from what the manifest records").in_file(format::named_file(name));
  }
  if (Status synced = (*file)->sync(sync_points::kCheckpointCopy); !synced.ok()) return synced;
  ++figures_.files_copied;
  figures_.copied_bytes += size_bytes;
  return Status();
}

Status CheckpointTarget::finish(FileSet files, CommitVersion version, std::string root_unknown_fields) {
  // A number that no file had. It is above those of all manifests that log records name.
  const std::uint64_t number = files.file_number_ceiling++;
  names_.reserve(names_.size() + 1);
  std::string name = format::file_name(format::FileType::kManifest, number);
  const Result<ManifestFile> manifest = ManifestFile::create(env_, *directory_, number, files);
  if (!manifest.ok()) return manifest.status();
  names_.push_back(std::move(name));
  if (Status synced = directory_->sync(sync_points::kCheckpointNames); !synced.ok()) return synced;

  format::Root root;
  root.store_id = files.store_id;
  root.features = files.features;
  root.unknown_fields = std::move(root_unknown_fields);
  root.manifest_number = number;
  root.manifest_seed = manifest->seed();
  Result<format::Root> clean =
      make_clean_root(*directory_, root, files, *manifest, std::max(version, files.version_ceiling));
  if (!clean.ok()) return clean.status();
  if (Status named = RootFile().replace(*directory_, env_.random, *std::move(clean)); !named.ok()) return named;
  finished_ = true;
  return Status();
}

/// CURRENT is removed first, durably: while a crash could bring it back, the files that it leads to must remain.
void CheckpointTarget::give_up() noexcept {
  io::probe("a checkpoint was given up");
  const Status unnamed = directory_->remove(format::kRootName);
  if (unnamed.ok() && !directory_->sync(sync_points::kRemovedNames).ok()) return;
  if (!unnamed.ok() && !io::is_missing(unnamed)) return;
  (void)directory_->remove(kRootTemporaryName);
  for (const std::string& name : names_) (void)directory_->remove(name);
  (void)directory_->sync(sync_points::kRemovedNames);
}

}  // namespace varve::engine
