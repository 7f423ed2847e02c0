// Owns: the durable record of the file set: appending edits, beginning a fresh manifest, naming it in CURRENT.
// Must never: append again to a file whose append or sync failed, or apply an edit to the set before it is durable.
//
// N1  an edit is applied in memory only after its record is durable, or after a fresh manifest that contains it is
//     named.
// N2  records are appended one at a time, each when its predecessor is durable.
// N3  a number handed out was below a durable ceiling when it was handed out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/manifest/file_set.h"
#include "engine/manifest/root_file.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// How much of which manifest is known durable; log records carry it.
struct ManifestMark {
  std::uint64_t number = 0;
  std::uint64_t durable_bytes = 0;
};

/// Any thread; edits are written one at a time, and block on the disk. The tree calls it under its own mutex, and nobody under another lock.
class Manifest {
 public:
  /// Begins a manifest that holds `files`, durably, and names it in CURRENT with the state "open". The new manifest's
  /// number is files.file_number_ceiling at the call; the ceiling it records is raised by kNumberStep. The directory is
  /// synced before CURRENT is replaced, so names made earlier are durable too. On kNoSpace the ballast is given up and
  /// what failed is tried once more. `env` and `directory` outlive the manifest. Errors: any; CURRENT is then as it
  /// was, or names the new manifest.
  static Result<std::unique_ptr<Manifest>> begin(const io::Env& env, io::Directory& directory, RootFile root,
                                                 FileSet files);
  ~Manifest();

  /// Makes an edit durable and applies it. A failed append is never repeated on that file: a fresh manifest with the
  /// edited set is written and CURRENT switched to it; on kNoSpace the ballast is given up first.
  /// Before it the directory, its lock, CURRENT and the manifest are confirmed to be this owner's still, and after it
  /// the manifest's name: an edit in a file that nobody will read is none.
  /// Errors: kFenced (they are not; no fresh manifest is begun); any, when the fresh manifest failed too: which set is
  /// on disk is then unknown. The store must stop (the caller poisons it); every later call answers the same error.
  /// Where is_stopped() is still false, the look at CURRENT and the others failed: nothing was written, and the edit
  /// may be tried again.
  Status append(const format::ManifestEdit& edit);
  bool is_stopped() const;

  /// A number that no file has had (the manifest's own are taken from the same row); raises the ceiling by an edit of
  /// its own when needed. Errors: as append().
  Result<std::uint64_t> next_file_number();

  ManifestMark mark() const noexcept;
  /// A copy of the set as it is now.
  FileSet files() const;
  std::uint64_t size_bytes() const noexcept;
  /// Unknown even fields of CURRENT, which whoever rewrites it keeps.
  std::string root_unknown_fields() const;

  /// The end of a clean close: every live segment is closed. Records the exact next number and the loss of the log
  /// buffer, replaces CURRENT with the state "clean", final lengths and hashes (of a segment: its size and the content
  /// hash of its last sector, the footer's; of the manifest: all its bytes), and only then removes the files the set
  /// does not name, BALLAST included. What is recorded is read back and verified first. The next open starts above
  /// `last_version`, the highest published, and above the version ceiling of the set: before a crash versions up to it
  /// may have been shown whose commits are gone. Errors: any; the next open recovers the store then. Every later call
  /// answers kClosed, or an earlier error.
  Status finish(CommitVersion last_version);

 private:
  struct State;
  explicit Manifest(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

inline constexpr std::uint64_t kNumberStep = 1000;
/// A manifest is begun afresh when it is longer than this, and than eight times what it began with.
inline constexpr std::uint64_t kManifestBytesKept = std::uint64_t{4} << 20;
inline constexpr std::string_view kLockName = "LOCK";
inline constexpr std::string_view kBallastName = "BALLAST";
inline constexpr std::uint64_t kBallastBytes = std::uint64_t{16} << 20;

}  // namespace varve::engine
