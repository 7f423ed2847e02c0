// Owns: CURRENT on disk: its bytes as last read or written.
// Must never: replace bytes that it has not read.
#include "engine/manifest/root_file.h"

#include <utility>

#include "engine/base/sync_points.h"
#include "engine/base/whole_file.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "io/os_error.h"

namespace varve::engine {

Result<std::optional<RootFile>> RootFile::load(io::Directory& directory) {
  Result<std::string> bytes =
      read_whole_file(directory, format::kRootName, format::kRootBytesMax, io::ReadMode::kCached);
  if (io::is_missing(bytes.status())) return std::optional<RootFile>();
  if (!bytes.ok()) return bytes.status();
  Result<format::Root> root = format::decode_root(*bytes);
  if (!root.ok()) return root.status().in_file(format::named_file(format::kRootName), 0);
  RootFile file;
  file.root_ = *std::move(root);
  file.bytes_ = *std::move(bytes);
  return std::optional<RootFile>(std::move(file));
}

Status RootFile::confirm(io::Directory& directory) const {
  const Result<std::string> bytes =
      read_whole_file(directory, format::kRootName, format::kRootBytesMax, io::ReadMode::kCached);
  if (bytes.ok() && *bytes == bytes_) return Status();
  // A missing file, or one that is too long, is as foreign as one with other bytes.
  const bool is_read = bytes.ok() || io::is_missing(bytes.status()) || bytes.code() == Code::kCorruption;
  if (!is_read) return bytes.status();
  return Status(Code::kFenced, "CURRENT was removed or replaced").in_file(directory.path());
}

Status RootFile::replace(io::Directory& directory, io::RandomSource& random, format::Root next) {
  next.generation = root_.generation + 1;
  std::string bytes = format::encode_root(next, random.next());
  const Status replaced =
      directory.replace(format::kRootName, format::as_bytes(bytes_), format::as_bytes(bytes), sync_points::kRoot);
  if (replaced.code() == Code::kPreconditionFailed) {
    return Status(Code::kFenced, replaced.message()).in_file("another owner has replaced CURRENT");
  }
  if (!replaced.ok()) return replaced;
  root_ = std::move(next);
  bytes_ = std::move(bytes);
  return Status();
}

}  // namespace varve::engine
