// Owns: the bytes of one manifest: beginning it, appending to it, reading it.
// Must never: append behind bytes whose durability is unknown, or read a shorter history where a record was damaged.
//
// B1  the first record holds a whole file set, and is durable before anything names the manifest.
// B2  a record's durable_upto is its own offset, zero for the first: each is appended when its predecessor is durable.
//
// So at most the last append can be torn, and nothing that verifies can stand behind it.
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

/// A manifest that is written. One thread at a time.
class ManifestFile {
 public:
  /// Makes the file, with `files` as its first record, and syncs it; not its name. A leftover of that name is removed
  /// first. Errors: kNoSpace and others of io; no file is left, where it could be removed.
  static Result<ManifestFile> create(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                     const FileSet& files);

  /// Appends and syncs one edit. After any error the file is in doubt and must not be appended to again.
  Status append(const format::ManifestEdit& edit);

  /// Looks at the file by its name. Errors: kFenced (it is absent, or of another length than was written), kIoError.
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

/// What a manifest says.
struct ManifestContent {
  FileSet files;
  /// Behind its last valid record.
  std::uint64_t valid_bytes = 0;
  /// Bytes behind that, up to the last that is not zero.
  std::uint64_t torn_bytes = 0;
};

/// Reads the manifest that `root` names. After a clean close its size and hash must be the root's, and it has no torn
/// end. Errors: kCorruption, kUnsupported (both with file and offset), kIoError.
Result<ManifestContent> read_manifest(io::Directory& directory, const format::Root& root);

/// The same for bytes in memory. `may_end_torn` says that the last append may be unfinished.
Result<ManifestContent> parse_manifest(std::string_view bytes, std::uint64_t number, std::uint64_t seed,
                                       bool may_end_torn);

/// A larger manifest is not read.
inline constexpr std::uint64_t kManifestBytesReadMax = std::uint64_t{1} << 30;

}  // namespace varve::engine
