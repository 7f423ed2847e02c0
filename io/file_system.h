// Owns: the door to directories of files, behind which stand the plain-call, io_uring and in-memory implementations.
// Must never: know what the files hold, follow a symbolic link inside a store's directory, or touch a file whose name
// the caller did not give.
//
// The door is narrow on purpose: a distributed append-only file layer must be able to stand behind it. So correctness
// above never rests on list(), and the only thing replaced in place is one small root file.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"
#include "io/read_queue.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::io {

enum class ReadMode : std::uint8_t {
  kCached,  // through the system's page cache
  kDirect,  // from the device, where the file system allows it: for bytes whose cached copy is in doubt
};

enum class LockMode : std::uint8_t {
  kExclusive,  // the one writer; creates the lock file if it is absent
  kShared,     // any number of readers; writes nothing, and needs no lock file
};

struct DirectoryEntry {
  std::string name;
  std::uint64_t size_bytes = 0;
  bool regular_file = false;  // false for directories, links and everything else
};

/// One open directory. Names are single components without '/'. Any thread, save where two calls name the same file.
///
/// Errors common to all: kIoError (with path, call and errno), kTooManyFiles, kFenced, kLocked (a writing call in a
/// forked child). Messages name the whole path. Where an errno is named below, the code is kIoError (io/os_error.h).
class Directory {
 public:
  virtual ~Directory() = default;

  /// Path as given at open, for messages.
  virtual std::string_view path() const noexcept = 0;

  /// In no particular order, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> list() = 0;

  /// Makes an empty file for writing. Errors: EEXIST; nothing changed.
  virtual Result<std::unique_ptr<WritableFile>> create(std::string_view name) = 0;

  virtual Result<std::unique_ptr<ReadableFile>> open(std::string_view name, ReadMode mode) = 0;

  /// Makes a segment whose space, `bytes` (a multiple of kSectorBytes), is certain to be there. Reads as zeros.
  /// Errors: EEXIST, kNoSpace; no file is left behind.
  virtual Result<std::unique_ptr<LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) = 0;

  /// Makes a file of `bytes` (a multiple of kSectorBytes), its space allocated and its size durable, and memory of the same size.
  /// Errors: EEXIST, kNoSpace; no file is left behind.
  virtual Result<std::unique_ptr<SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) = 0;

  /// Replaces the content of a small file, atomically and durably: after a crash it holds the old content or the new.
  /// `expected` is the content it must have now, empty for a file that must be absent. `content` is 1 byte to 64 KiB.
  /// Errors: kPreconditionFailed (the content is another, or the file's presence is), kInvalidArgument (the size);
  /// nothing changed. Any other error: old or new content.
  virtual Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                         SyncPoint point) = 0;

  /// Gives a regular file the same name in `into` as well, without copying it: both names stand for one file, which
  /// stays as long as either does. Durable with into.sync(). `into` is a directory of the same file system door.
  /// Errors: kUnsupported (the two lie on different devices, or there are no such links, or no more of them: copy the
  /// file instead), EEXIST, ENOENT, kCorruption (not a regular file); nothing changed.
  virtual Status link(std::string_view name, Directory& into) = 0;

  /// Takes a name away; open handles stay valid. Durable with the next sync().
  virtual Status remove(std::string_view name) = 0;

  /// Makes every earlier create, remove and link into this directory durable.
  virtual Status sync(SyncPoint point) = 0;

  /// Takes the lock of the directory, waiting up to `wait_max` for a holder that is going away. It holds when the lock
  /// file `name` is removed or replaced. (A file system that locks no directories is asked to lock the file alone.)
  /// Errors: kLocked (somebody holds it), ENOENT (shared, no lock file, and nothing else to lock).
  virtual Result<std::unique_ptr<DirectoryLock>> lock(std::string_view name, LockMode mode,
                                                      std::chrono::milliseconds wait_max) = 0;

  /// Asks the system whether the caller still owns the directory: its path names no other directory, and the exclusive
  /// lock taken through this handle, if any, still excludes others. Costs some system calls; asked before what
  /// switches the store to another state. Errors: kFenced, kLocked (a forked child).
  virtual Status confirm_owner() = 0;

  /// Makes the file `name` hold `bytes` of allocated space and no content, so that the space can be given up later:
  /// zero gives it up. The file is made if absent. Errors: kNoSpace; what was held before is still held.
  virtual Status set_ballast(std::string_view name, std::uint64_t bytes) = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  /// For statistics: "posix", "io_uring", "memory".
  virtual std::string_view name() const noexcept = 0;

  /// Errors: ENOENT, ENOTDIR, and others of kIoError; kInvalidArgument (the path is empty or holds NUL).
  virtual Result<std::unique_ptr<Directory>> open_directory(std::string_view path) = 0;

  /// Makes the directory, and syncs its parent so that the name is durable. An existing directory is a success.
  virtual Status create_directory(std::string_view path, SyncPoint point) = 0;

  /// A queue for up to `depth` reads at once (1 to kReadDepthMax) of files opened in this file system. Where it takes
  /// threads, they are `scheduler`'s, which outlives it. Errors: kInvalidArgument (the depth).
  virtual Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) = 0;
};

}  // namespace varve::io
