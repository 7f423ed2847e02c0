// Owns: the durable record of the file set: appending edits, beginning a new manifest, naming it in CURRENT.
// Must never: append again to a file whose append or sync failed, or apply an edit to the set before it is durable.
//
// N1  an edit is applied in memory only after its record is durable, or after CURRENT names a new manifest with it.
// N2  records are appended one at a time, each after its predecessor is durable.
// N3  when a number is returned, it is below a durable ceiling.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/manifest/ballast.h"
#include "engine/manifest/file_set.h"
#include "engine/manifest/root_file.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// The manifest in use, and the length of it that is known durable, in bytes. Log records contain it.
struct ManifestMark {
  std::uint64_t number = 0;
  std::uint64_t durable_bytes = 0;
};

/// The manifest of an open store. Any thread may use it. Edits are written one at a time, and block on the disk. The
/// tree calls it under its own mutex; no other caller may hold a lock.
class Manifest {
 public:
  /// Begins a manifest that contains `files`, durably, and names it in CURRENT with the state "open". The new
  /// manifest's number is files.file_number_ceiling at the call, and the ceiling that it records is raised by
  /// kNumberStep. The directory is synced before CURRENT is replaced, so earlier names are durable too. After kNoSpace,
  /// the failed step is tried again with room of the ballast. `env` and `directory` must outlive the manifest.
  /// Errors: any; CURRENT is then unchanged, or names the new manifest.
  static Result<std::unique_ptr<Manifest>> begin(const io::Env& env, io::Directory& directory, RootFile root,
                                                 FileSet files);
  ~Manifest();

  /// Makes an edit durable and applies it. A failed append is never repeated on the same file: a new manifest with the
  /// edited set is written, and CURRENT is switched to it. On a full device, the ballast gives room for that.
  ///
  /// Before the append, this checks that the directory, its lock, CURRENT and the manifest still belong to this owner.
  /// After it, this checks the manifest's name, because no reader would find an edit in another file.
  ///
  /// Errors: kFenced (they do not belong to it; no new manifest is begun); any, if the new manifest failed too. It is
  /// then unknown which set is on disk. The store must stop (the caller poisons it), and every later call returns the
  /// same error. If is_stopped() is still false, only the ownership check failed: nothing was written, and the edit may
  /// be retried.
  Status append(const format::ManifestEdit& edit);
  bool is_stopped() const;

  /// Makes incompatible features part of the set, durably: writes a new manifest, and names it in CURRENT, whose features
  /// are always those of its manifest. Does nothing if the set has them. Errors: as append(); if is_stopped() is still
  /// false, nothing has changed.
  Status add_features(std::uint64_t incompatible);

  /// Returns a number that no file has had. The manifest's own numbers come from the same sequence. If needed, raises
  /// the ceiling with a separate edit. Errors: those of append().
  Result<std::uint64_t> next_file_number();

  /// Returns that of this store.
  Ballast& ballast() noexcept;

  ManifestMark mark() const noexcept;
  /// Returns a copy of the present set.
  FileSet files() const;
  std::uint64_t size_bytes() const noexcept;
  /// Returns the unknown even fields of CURRENT, which every rewrite of CURRENT must keep.
  std::string root_unknown_fields() const;

  /// Ends the manifest in a clean close. Every live segment must be closed. The steps:
  /// - record the exact next number, and the removal of the log buffer and of segments whose commits are all in tables,
  /// - read back and verify the recorded content,
  /// - replace CURRENT with the state "clean" and the final lengths and hashes: for a segment its size and the content
  ///   hash of its last sector, which is the footer's; for the manifest all its bytes,
  /// - remove the files that the set does not name, including BALLAST.
  /// The next open starts above `last_version`, the greatest published version, and above the set's version ceiling.
  /// Readers may have seen versions up to that ceiling before a crash that lost their commits. Errors: any; the next
  /// open then recovers the store. Every later call returns kClosed, or an earlier error.
  Status finish(CommitVersion last_version);

 private:
  struct State;
  explicit Manifest(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

inline constexpr std::uint64_t kNumberStep = 1000;
/// A new manifest is begun if the present one is longer than this in bytes, and its edits are longer than the set at
/// its beginning. So a store writes its set again only after as many bytes of edits, however many files it has. A
/// close and an open read no more than twice the set.
inline constexpr std::uint64_t kManifestBytesKept = std::uint64_t{512} << 10;
inline constexpr std::string_view kLockName = "LOCK";

}  // namespace varve::engine
