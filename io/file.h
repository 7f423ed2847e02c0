// Owns: the doors to one open file: written once, read at offsets, a log segment, shared memory, a lock.
// Must never: know what the bytes mean, or call anything durable whose sync did not succeed.
//
// All handles close in their destructor and none of them syncs there. An error from a write, a sync or a cut leaves the
// handle's outcome unknown: it is poisoned, and every later write, sync or cut on it answers the same error. Transfers
// are whole or an error: short ones are continued and EINTR is retried inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "varve/result.h"

namespace varve::io {

/// Unit of direct I/O: offsets, lengths and memory of log writes are multiples of it.
inline constexpr std::size_t kSectorBytes = 4096;

/// Names the place in the code from which something is made durable, so that tests can fail or leave out exactly it.
struct SyncPoint {
  std::string_view name;
};

/// A file that is written front to back, once. One thread at a time.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  /// Adds bytes at the end. Errors: kNoSpace, kIoError, kFenced, kLocked (called in a forked child).
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// Makes content and size durable; the name becomes durable by Directory::sync alone.
  /// Errors: kFenced (also if the file is no longer the one under its name: nobody would find the bytes), as append().
  virtual Status sync(SyncPoint point) = 0;
  virtual std::uint64_t size_bytes() const noexcept = 0;
};

/// Tells files apart that exist at the same time. The number of a file that is gone may be given to another one.
struct FileKey {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool operator==(const FileKey&) const = default;
};

/// A file that is read at offsets. Any thread.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  /// Size when it was opened.
  virtual std::uint64_t size_bytes() const noexcept = 0;
  virtual FileKey key() const noexcept = 0;
  /// Fills all of `bytes`. Errors: kCorruption (the file ends first), kIoError. Alignment is the implementation's
  /// affair.
  virtual Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

/// A segment of a log: a file allocated whole, written in any order at places its caller reserved, then cut at its end.
class LogSegment {
 public:
  virtual ~LogSegment() = default;
  virtual std::uint64_t allocated_bytes() const noexcept = 0;

  /// Prepares the space so that later writes are cheap (zero-fills it where that helps). Runs on a background thread
  /// before the segment is used; returns early, with success, once stop_filling() was called. Space not prepared is
  /// slower to write, never wrong. The bytes it wrote are in filled_bytes(). It leaves the first sector alone, which
  /// is prepared when the segment is made and may be written (with a header) before. Errors: kIoError, kNoSpace.
  virtual Status fill() = 0;
  /// Makes a running or later fill() end; returns when none runs. After it the segment may be written to. Any thread.
  virtual void stop_filling() noexcept = 0;
  virtual std::uint64_t filled_bytes() const noexcept = 0;

  /// For statistics: true where writes go to the device past the page cache, false where the file system refused that
  /// (or has no device) and each write is followed by a sync.
  virtual bool direct() const noexcept { return false; }

  /// Writes `bytes` at `offset` and returns when they are durable. Offset, size and address are multiples of
  /// kSectorBytes. Any number of threads at once, for ranges that do not overlap. Space not yet written reads as zeros.
  /// Errors: kIoError, kNoSpace, kLocked, kFenced (also if the file is no longer the one under its name); the content
  /// of the range is then unknown.
  virtual Status write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) = 0;

  /// Ends the file at `size_bytes`, durably. No write may be in flight or come later.
  virtual Status cut(std::uint64_t size_bytes, SyncPoint point) = 0;
};

/// Memory with a file of the same size. What of it was kept survives the death of the process, not that of the machine,
/// and is read back by opening the file. The memory itself is the process's own: to touch it is safe whatever becomes
/// of the file. (To touch a mapping of a file that somebody has cut ends the process by a signal.)
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  /// Aligned to kSectorBytes. Zero when made. Empty in a forked child, where the memory is not mapped at all.
  virtual std::span<std::byte> bytes() noexcept = 0;
  /// Keeps what stands in this part of bytes(), which may be more than is asked for. One thread at a time.
  /// Errors: kIoError, kNoSpace, kLocked (called in a forked child), the first failure of this handle.
  virtual Status keep(std::size_t offset, std::size_t size_bytes) noexcept = 0;
  /// Whether the file still holds what was kept, as far as that shows quickly: its size, its beginning and its name.
  /// Any thread. Errors: kCorruption (it was cut or written by somebody else), kFenced, kIoError.
  virtual Status check() noexcept = 0;
  /// Keeps all of bytes() anew where check() found the file cut or written, as far as that can be written. While no
  /// thread changes bytes().
  virtual void restore() noexcept {}
};

/// Held until destroyed.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
  /// Greater than that of every earlier exclusive owner, where the back end can fence an owner that lost its lock;
  /// zero where the lock cannot be lost while the process lives (a local file system).
  virtual std::uint64_t epoch() const noexcept = 0;
  /// Ok while this process may write under the lock. Cheap: asked before every commit, buffered ones included, which
  /// make no call of their own. Errors: kFenced (another owner took over), kLocked (this is a forked child).
  virtual Status check() const noexcept = 0;
};

}  // namespace varve::io
