// Owns: the descriptors of table and value files: how many are open at once, and which one is closed for another.
// Must never: close a file while it is read, or read another file in the place of the file opened first.
//
// O1  A pinned file is open, and stays open until its last pin is released.
// O2  A file opened again has the size of the file opened first. It is the same file, or it has the same mark.
// O3  More than capacity() files are open only while that many are pinned. Each thread that opens a file may add one.
// O4  At most half of capacity() is pinned for long. A thread with a short pin does not wait while it holds the pin.
//
// A file keeps its name while any reader may read it (table_file.h), so it can always be opened again. A clock with a
// second chance chooses the file to close. A pin of an open file costs one change of the file's counter.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/file_system.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

class HeldFile;
class OpenFiles;

/// Keeps a file open. Movable, not copyable. The file outlives it.
class FilePin {
 public:
  FilePin() noexcept = default;
  FilePin(FilePin&& other) noexcept
      : held_(std::exchange(other.held_, nullptr)), is_long_(std::exchange(other.is_long_, false)) {}
  FilePin& operator=(FilePin&& other) noexcept;
  ~FilePin() { release(); }

  explicit operator bool() const noexcept { return held_ != nullptr; }
  const io::ReadableFile& operator*() const noexcept;
  void release() noexcept;

 private:
  friend class HeldFile;
  explicit FilePin(const HeldFile& held) noexcept : held_(&held) {}

  const HeldFile* held_ = nullptr;
  bool is_long_ = false;  // counted by OpenFiles
};

/// A file that is read many times and may be closed in between. Thread-safe.
class HeldFile {
 public:
  /// Opens the file. `files` and `directory` outlive it. Errors: kCorruption (it is missing, or has another size),
  /// those of io::Directory::open.
  static Result<std::unique_ptr<HeldFile>> open(OpenFiles& files, io::Scheduler& scheduler, io::Directory& directory,
                                                std::string name, std::uint64_t size_bytes);
  /// Called only by open().
  HeldFile(OpenFiles& files, io::Scheduler& scheduler, io::Directory& directory, std::string name,
           std::uint64_t size_bytes);
  ~HeldFile();  // nothing is pinned
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  /// Sets the bytes at `offset` that identify the file: no other file that ever had its name has them. Called once,
  /// before other threads know the file.
  void set_mark(std::uint64_t offset, std::string_view bytes) noexcept;

  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// Reads as io::ReadableFile::read_exactly does, and opens the file first if it was closed. Errors: those of open(),
  /// too.
  Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;
  /// As read_exactly(), but as io::ReadableFile::read_past_cache does.
  Status read_past_cache(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;

  /// Pins the file for one or two calls, during which the caller does not wait for anything else. Errors: as open().
  Result<FilePin> pin() const noexcept { return pin_as(Wait::kForOthers); }
  /// Pins the file for a read in progress while its caller does other work. Does not wait for pins of other threads.
  /// Errors: kBusy (enough files are pinned for long), those of open().
  Result<FilePin> pin_for_long() const noexcept;

 private:
  friend class FilePin;
  friend class OpenFiles;
  enum class Wait : std::uint8_t { kForOthers, kNever };

  /// Returns an empty pin if the file is closed.
  FilePin pin_open() const noexcept;
  Result<FilePin> pin_as(Wait wait) const noexcept;
  Result<std::unique_ptr<io::ReadableFile>> open_file(Wait wait) const;
  Status confirm(const io::ReadableFile& file) const VARVE_REQUIRES(opening_);

  /// The bit of an open file. The other bits count the pins, and the threads that are checking this bit.
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;

  OpenFiles& files_;
  io::Directory& directory_;
  const std::string name_;
  const std::uint64_t size_bytes_;

  mutable std::atomic<std::uint32_t> state_{0};
  mutable std::atomic<bool> used_{false};           // since the clock's hand passed
  mutable std::unique_ptr<io::ReadableFile> file_;  // changes under the mutex of OpenFiles, never while pinned
  mutable std::size_t place_ = 0;                   // in the clock, while open; under the mutex of OpenFiles

  mutable io::Mutex opening_;
  mutable bool was_open_ VARVE_GUARDED_BY(opening_) = false;
  mutable io::FileKey key_ VARVE_GUARDED_BY(opening_);
  std::uint64_t mark_offset_ = 0;
  std::size_t mark_bytes_ = 0;
  std::uint64_t mark_hash_ = 0;
};

/// Thread-safe, and shared by stores. Its mutex is a leaf: no file is opened or closed under it.
class OpenFiles {
 public:
  static constexpr std::size_t kCapacityMin = 8;
  static constexpr std::size_t kCapacityMax = 3072;
  /// Returns the capacity of a process that may have `limit` files open: a quarter. The rest is for the host program,
  /// the log and the rings.
  static std::size_t capacity_for(std::uint64_t limit) noexcept;
  /// Creates an object with the capacity for this process.
  static std::shared_ptr<OpenFiles> make_for_process(io::Scheduler& scheduler);

  /// `capacity` is at least 1. `scheduler` outlives this object.
  OpenFiles(io::Scheduler& scheduler, std::size_t capacity) noexcept;

  /// Returns how many files may be open. If the system refuses a descriptor, the capacity sinks for good.
  std::size_t capacity() const noexcept { return capacity_.load(std::memory_order_relaxed); }
  std::size_t open_count() const noexcept VARVE_EXCLUDES(mutex_);
  /// Closes some files and lowers the capacity, after the system refused a descriptor. Returns false if all open files
  /// are pinned.
  bool give_some_up() noexcept VARVE_EXCLUDES(mutex_);
  /// Return the number of files opened, first or again, and of files closed for others, since creation.
  std::uint64_t openings() const noexcept { return openings_.load(std::memory_order_relaxed); }
  std::uint64_t closings() const noexcept { return closings_.load(std::memory_order_relaxed); }

 private:
  friend class FilePin;
  friend class HeldFile;

  /// Closes files until one more may be opened, or until all open files are pinned.
  void make_room() noexcept VARVE_EXCLUDES(mutex_);
  /// Waits for a moment, in which a pinned file may become free.
  void wait_a_moment() noexcept VARVE_EXCLUDES(mutex_);
  /// Takes an opened file, with one pin for the caller. Throws std::bad_alloc; then nothing has changed.
  void keep(const HeldFile& held, std::unique_ptr<io::ReadableFile>& file) VARVE_EXCLUDES(mutex_);
  void forget(const HeldFile& held) noexcept VARVE_EXCLUDES(mutex_);
  bool take_long_pin() noexcept;
  void give_long_pin() noexcept { long_pins_.fetch_sub(1, std::memory_order_relaxed); }

  std::unique_ptr<io::ReadableFile> close_one() noexcept VARVE_REQUIRES(mutex_);
  void leave_clock(const HeldFile& held) noexcept VARVE_REQUIRES(mutex_);

  std::atomic<std::size_t> capacity_;
  std::atomic<std::size_t> long_pins_{0};
  std::atomic<std::uint64_t> openings_{0};
  std::atomic<std::uint64_t> closings_{0};
  mutable io::Mutex mutex_;
  io::Condition moment_;
  std::vector<const HeldFile*> clock_ VARVE_GUARDED_BY(mutex_);  // the open files
  std::size_t hand_ VARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace varve::engine
