// Owns: the interface to directories of files, with a plain-call, an io_uring and an in-memory implementation.
// Must never: interpret the files' content, follow a symbolic link inside a store's directory, or touch a file whose
// name the caller did not give.
//
// The interface is narrow on purpose: a distributed append-only file layer must be able to implement it. Therefore
// correctness of the layers above never depends on list(), and only two small files are replaced in place.
#pragma once

#include <chrono>
#include <cstddef>
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
  kDirect,  // from the device, if the file system allows it: for bytes whose cached copy is in doubt
};

enum class LockMode : std::uint8_t {
  kExclusive,  // the one writer; creates the lock file if absent
  kShared,     // any number of readers; writes nothing, and needs no lock file
};

struct DirectoryEntry {
  std::string name;
  std::uint64_t size_bytes = 0;
  bool regular_file = false;  // false for directories, links and all other kinds
};

/// One open directory. Names are single components without '/'. Any thread may call it, except that two concurrent
/// calls may not name the same file.
///
/// Errors of all functions: kIoError (with path, call and errno), kTooManyFiles, kFenced, kLocked (a writing call in a
/// forked child). Messages contain the whole path. Errors that are named by an errno below have code kIoError
/// (io/os_error.h).
class Directory {
 public:
  virtual ~Directory() = default;

  /// Returns the path that was given at open, for messages.
  virtual std::string_view path() const noexcept = 0;

  /// Lists the directory in no particular order, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> list() = 0;

  /// Does the same without the sizes, which are zero or right. Cheaper where each size is a call.
  virtual Result<std::vector<DirectoryEntry>> list_names() { return list(); }

  /// Creates an empty file for writing. Errors: EEXIST; nothing is changed.
  virtual Result<std::unique_ptr<WritableFile>> create(std::string_view name) = 0;

  virtual Result<std::unique_ptr<ReadableFile>> open(std::string_view name, ReadMode mode) = 0;

  /// Creates a segment and allocates its space: `bytes`, a multiple of kSectorBytes. The space reads as zeros. Errors:
  /// EEXIST, kNoSpace; no file remains.
  virtual Result<std::unique_ptr<LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) = 0;

  /// Gives the file `from`, a segment that was cut and is no longer needed, a second life as the segment `to` of `bytes`
  /// (a multiple of kSectorBytes, and at least the file's size). The space that was written before keeps its bytes, and
  /// counts as prepared. The rest reads as zeros. The change of names becomes durable with the next sync(). Errors:
  ///
  /// - kUnsupported (the file has another link, or this file system cannot do it), EEXIST, ENOENT: nothing has changed.
  /// - After kNoSpace and other errors, either name may exist. The file is of no use any more.
  virtual Result<std::unique_ptr<LogSegment>> recycle_log_segment(std::string_view /*from*/, std::string_view /*to*/,
                                                                  std::uint64_t /*bytes*/) {
    return Status::unsupported("segments are not recycled here");
  }

  /// Creates a file of `bytes` (a multiple of kSectorBytes), with allocated space and durable size, and memory of equal
  /// size. Errors: EEXIST, kNoSpace, kUnsupported (no memory here outlives the process); no file remains.
  virtual Result<std::unique_ptr<SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) = 0;

  /// Replaces the content of a small file atomically and durably: after a crash, the file has the old content or the
  /// new. `expected` is the content that the file must have now. It is empty if the file must be absent. `content` has
  /// 1 byte to 4 MiB. Errors: kPreconditionFailed (the file has other content, or its presence is not as expected),
  /// kInvalidArgument (the size); nothing is changed. After any other error, the file has the old or the new content.
  virtual Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                         SyncPoint point) = 0;

  /// Adds a link of the same name in `into` to a regular file, without copying it. The file lives as long as either
  /// name exists. The link becomes durable with into.sync(). `into` must be a directory of this file system. Errors:
  /// kUnsupported (different devices, no links, or too many links: copy the file instead), EEXIST, ENOENT, kCorruption
  /// (not a regular file); nothing is changed.
  virtual Status link(std::string_view name, Directory& into) = 0;

  /// Removes a name. Open handles of the file remain valid or fail with ENOENT, as the file system can: the caller
  /// removes what no reader uses. The removal becomes durable with the next sync().
  virtual Status remove(std::string_view name) = 0;

  /// Makes every earlier create and remove in this directory, and every earlier link into it, durable.
  virtual Status sync(SyncPoint point) = 0;

  /// Takes the lock of the directory. Waits up to `wait_max` for a holder that is about to release it. The lock holds
  /// even if the lock file `name` is removed or replaced. (If the file system cannot lock directories, only the file is
  /// locked.) Errors: kLocked (another owner holds it), ENOENT (shared, no lock file, and the directory cannot be
  /// locked).
  virtual Result<std::unique_ptr<DirectoryLock>> lock(std::string_view name, LockMode mode,
                                                      std::chrono::milliseconds wait_max) = 0;

  /// Asks the system whether the caller still owns the directory. The directory's path must not name another directory.
  /// If an exclusive lock was taken through this handle, it must still exclude others. Costs some system calls. Callers
  /// use it before they switch the store to another state. Errors: kFenced, kLocked (a forked child).
  virtual Status confirm_owner() = 0;

  /// Makes the file `name` hold `bytes` of allocated space without content, so that the space can be released later.
  /// Zero releases it. If the file is absent, it is created. Errors: kNoSpace; the space held before remains held.
  virtual Status set_ballast(std::string_view name, std::uint64_t bytes) = 0;
};

/// Bytes of one read from which larger reads gain little, where a file system does not name another number.
inline constexpr std::size_t kGoodReadBytes = std::size_t{256} << 10;

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  /// For statistics. Returns "posix", "io_uring" or "memory".
  virtual std::string_view name() const noexcept = 0;

  /// Errors: ENOENT, ENOTDIR, and other kIoError; kInvalidArgument (the path is empty or contains NUL).
  virtual Result<std::unique_ptr<Directory>> open_directory(std::string_view path) = 0;

  /// Creates the directory, and syncs its parent so that the name is durable. If the directory exists, that is a
  /// success.
  virtual Status create_directory(std::string_view path, SyncPoint point) = 0;

  /// Makes a queue for up to `depth` concurrent reads (1 to kReadDepthMax) of files opened in this file system. If the
  /// queue needs threads, `scheduler` starts them and must outlive the queue. Errors: kInvalidArgument (the depth).
  virtual Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) = 0;

  /// Returns the bytes of one read from which larger reads gain little. Long scans read so many at once, and have four such
  /// reads in flight.
  virtual std::size_t good_read_bytes() const noexcept { return kGoodReadBytes; }
};

}  // namespace varve::io
