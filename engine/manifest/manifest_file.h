// Owns: the bytes of one manifest: creating it, appending to it, reading it.
// Must never: append after bytes whose durability is unknown, or read a shorter history because a record is damaged.
//
// B1  the first record contains a whole file set, and is durable before anything names the manifest.
// B2  a record's durable_upto is its own offset, or zero for the first; it is appended after its predecessor is
//     durable.
//
// So only the last append can be torn, and no bytes that verify can follow it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/manifest/file_set.h"
#include "format/log/log_record.h"
#include "format/log/root.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// A manifest that is being written. One thread at a time may use it.
class ManifestFile {
 public:
  /// Creates the file with `files` as its first record, and syncs the file but not its name. A leftover file of that
  /// name is removed first. Errors: kNoSpace and others of io; the file is removed again if possible.
  static Result<ManifestFile> create(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                     const FileSet& files);

  /// Appends and syncs one edit. After any error, the file is in doubt and must not be appended to again.
  Status append(const format::ManifestEdit& edit);

  /// Checks the file by its name. Errors: kFenced (it is missing, or its length differs from the written one),
  /// kIoError.
  Status confirm(io::Directory& directory) const;

  std::uint64_t number() const noexcept { return number_; }
  std::uint64_t seed() const noexcept { return seed_; }
  std::uint64_t durable_bytes() const noexcept { return durable_bytes_; }

 private:
  ManifestFile(std::uint64_t number, std::uint64_t seed) noexcept : number_(number), seed_(seed) {}
  Status write_first(const FileSet& files);
  format::RecordHeader record_header() const;

  std::uint64_t number_;
  std::uint64_t seed_;
  std::uint64_t durable_bytes_ = 0;
  bool in_doubt_ = false;
  std::unique_ptr<io::WritableFile> file_;
};

/// The content of a manifest.
struct ManifestContent {
  FileSet files;
  /// Offset in bytes of the end of its last valid record.
  std::uint64_t valid_bytes = 0;
  /// Number of bytes after it, up to the last byte that is not zero.
  std::uint64_t torn_bytes = 0;
};

/// Reads the manifest that `root` names. After a clean close, its size and hash must be the root's, and it has no torn
/// end. Errors: kCorruption, kUnsupported (both with file and offset), kIoError.
Result<ManifestContent> read_manifest(io::Directory& directory, const format::Root& root);

/// Parses a manifest in memory. With `may_end_torn`, the last append may be unfinished.
Result<ManifestContent> parse_manifest(std::string_view bytes, std::uint64_t number, std::uint64_t seed,
                                       bool may_end_torn);

/// Limit in bytes of a manifest that can be read.
inline constexpr std::uint64_t kManifestBytesReadMax = std::uint64_t{1} << 30;

}  // namespace varve::engine
