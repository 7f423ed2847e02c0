// Owns: the interfaces of one open file: written once, read at offsets, a log segment, shared memory, a lock.
// Must never: interpret the bytes, or report durability without a successful sync.
//
// All handles close in their destructor, and none of them syncs there. After a failed write, sync or cut, the file's
// state is unknown and the handle is poisoned: every later write, sync or cut on it returns the same error. A transfer
// is complete or an error: the implementation continues short transfers and retries EINTR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "varve/result.h"

namespace varve::io {

/// Unit of direct I/O in bytes. Offsets, lengths and addresses of log writes are multiples of it.
inline constexpr std::size_t kSectorBytes = 4096;

/// Names the place in the code that makes something durable, so that a test can fail or skip exactly that call.
struct SyncPoint {
  std::string_view name;
};

/// A file that is written once, front to back. One thread at a time may use it. Before a sync() has made them durable,
/// the bytes may be invisible to those who open the file.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  /// Appends bytes at the end. Errors: kNoSpace, kIoError, kFenced, kLocked (called in a forked child).
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// Makes content and size durable. Only Directory::sync() makes the name durable.
  /// Errors: kFenced (also if the name now belongs to another file, because no reader would find the bytes); those of
  /// append().
  virtual Status sync(SyncPoint point) = 0;
  virtual std::uint64_t size_bytes() const noexcept = 0;
  /// Says that readers may soon ask for these bytes of the finished file, by one read of them, cut at its end. A file system
  /// with a cache of its own may keep them as they come. So it is called before the last of them was appended.
  virtual void expect_read(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) noexcept {}
};

/// Identifies a file among all files that exist at the same time. The number of a deleted file may be reused.
struct FileKey {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool operator==(const FileKey&) const = default;
};

/// A file that is read at offsets. Any thread may use it.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  /// Returns the size in bytes when the file was opened.
  virtual std::uint64_t size_bytes() const noexcept = 0;
  virtual FileKey key() const noexcept = 0;
  /// Fills all of `bytes`. Errors: kCorruption (the file ends first, or a part of it is lost), kIoError (ENOENT: the file
  /// was removed, and this file system keeps no removed files for their handles). The caller need not align anything.
  virtual Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const = 0;
  /// As read_exactly(), but takes nothing from a cache that this file system itself has: for a verification.
  virtual Status read_past_cache(std::uint64_t offset, std::span<std::byte> bytes) const {
    return read_exactly(offset, bytes);
  }
};

/// A log segment: a file that is allocated at its full size, written in any order at places that its caller reserved,
/// and then cut to its end.
class LogSegment {
 public:
  virtual ~LogSegment() = default;
  virtual std::uint64_t allocated_bytes() const noexcept = 0;

  /// Prepares the space up to the offset `end`, so that later writes are cheap (zero-fills it if that helps). Runs on a
  /// background thread before the segment is used. Once stop_filling() was called, returns early with success.
  /// Unprepared space is slower to write, never wrong. The first sector is not touched: it is prepared when the segment
  /// is created, and may be written (with a header) earlier. Errors: kIoError, kNoSpace.
  virtual Status fill_to(std::uint64_t end) = 0;
  Status fill() { return fill_to(allocated_bytes()); }
  /// Ends a running or later fill, and returns when none runs. After it, the caller may write to the segment. Any
  /// thread may call it.
  virtual void stop_filling() noexcept = 0;
  /// Returns the number of bytes that fills wrote.
  virtual std::uint64_t filled_bytes() const noexcept = 0;
  /// Returns the offset up to which the space is prepared. It is allocated_bytes() if preparing does not help here.
  virtual std::uint64_t prepared_bytes() const noexcept = 0;

  /// For statistics. Returns true if writes bypass the page cache. Returns false if the file system refused that (or
  /// has no device); each write is then followed by a sync.
  virtual bool direct() const noexcept { return false; }

  /// Writes `bytes` at `offset` and returns when they are durable. Offset, size and address are multiples of
  /// kSectorBytes. Any number of threads may call it at once, for ranges that do not overlap. Space that was not yet
  /// written reads as zeros. Errors: kIoError, kNoSpace, kLocked, kFenced (also if the name now belongs to another
  /// file). After an error, the content of the range is unknown.
  virtual Status write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) = 0;

  /// Cuts the file to `size_bytes`, durably. No write may be in flight, and none may follow.
  virtual Status cut(std::uint64_t size_bytes, SyncPoint point) = 0;
};

/// Memory with a file of the same size. Bytes that were kept survive the death of the process, but not a crash of the
/// machine. They are read back by opening the file. The memory belongs to the process, so access is safe whatever
/// happens to the file. (Access to a mapping of a file that another process truncated would end this process by a
/// signal.)
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  /// Returns the memory, aligned to kSectorBytes and initially zero. Empty in a forked child, where the memory is not
  /// mapped.
  virtual std::span<std::byte> bytes() noexcept = 0;
  /// Writes this part of bytes() to the file, and possibly more than the part. One thread at a time may call it.
  /// Errors: kIoError, kNoSpace, kLocked (called in a forked child), the first failure of this handle.
  virtual Status keep(std::size_t offset, std::size_t size_bytes) noexcept = 0;
  /// Checks quickly whether the file still contains the kept bytes: its size, its beginning and its name. Any thread
  /// may call it. Errors: kCorruption (another process cut or wrote the file), kFenced, kIoError.
  virtual Status check() noexcept = 0;
  /// If check() found the file cut or written, writes all of bytes() to it again, as far as that is possible. No thread
  /// may change bytes() meanwhile.
  virtual void restore() noexcept {}
};

/// The time for which an owner may answer from memory. Any thread may use it.
class Lease {
 public:
  virtual ~Lease() = default;
  /// Returns Ok if no later owner can have answered anything before this call. Costs a read of a clock. Errors: kFenced
  /// (another owner took over, for good), kBusy (the last renewal is too long ago; a later one may succeed), kLocked (the
  /// lock was released, or this is a forked child).
  virtual Status check() const noexcept = 0;
  /// As check(). If the owner asked for it, also asks the file system, after this call began, whether a later owner is there;
  /// so it needs no clock. Errors also: those of the file system.
  virtual Status confirm() const noexcept { return check(); }
  /// Returns whether confirm() may wait for the file system.
  virtual bool may_wait() const noexcept { return false; }
};

/// The lock of a directory, held until the object is destroyed.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
  /// Returns a number above that of every earlier exclusive owner, if the back end can fence an owner that lost its
  /// lock. Returns zero if the lock cannot be lost while the process lives (a local file system).
  virtual std::uint64_t epoch() const noexcept = 0;
  /// Returns Ok while this process may write under the lock. Cheap: it is called before every commit. Buffered commits
  /// make no other call of the file system that would find out. Errors: kFenced (another owner took over), kLocked
  /// (this is a forked child).
  virtual Status check() const noexcept = 0;
  /// Returns the lease of an owner that may lose the directory without a call that finds out. It may outlive the lock.
  /// Null if the lock cannot be lost while the process lives.
  virtual std::shared_ptr<const Lease> lease() const { return nullptr; }
};

}  // namespace varve::io
