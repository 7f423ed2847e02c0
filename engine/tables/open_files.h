// Owns: the descriptors of table and value files: how many are open at once, and which is closed for another one.
// Must never: close a file under a reader, or let a file that is not the one opened first be read in its place.
//
// O1  a file that is pinned is open, and stays so until its last pin has gone.
// O2  what is opened again has the size of what was opened first, and is the same file or has the same mark.
// O3  more than capacity() are open only while so many are pinned, and one for each thread that opens one.
// O4  at most half of capacity() is pinned for long; who pins for a moment waits for nothing meanwhile.
//
// A file keeps its name while anybody may read it (table_file.h), so it can always be opened again. Which file goes is
// decided by a clock with a second chance. A pin of an open file is one change of the file's counter.
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

/// Keeps a file open. Moves, does not copy. The file outlives it.
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

/// A file that is read again and again and may be closed in between. Any thread.
class HeldFile {
 public:
  /// Opens it. `files` and `directory` outlive it. Errors: kCorruption (it is missing, or its size is another), those
  /// of io::Directory::open.
  static Result<std::unique_ptr<HeldFile>> open(OpenFiles& files, io::Scheduler& scheduler, io::Directory& directory,
                                                std::string name, std::uint64_t size_bytes);
  /// For open() alone.
  HeldFile(OpenFiles& files, io::Scheduler& scheduler, io::Directory& directory, std::string name,
           std::uint64_t size_bytes);
  ~HeldFile();  // nothing is pinned
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  /// What it holds at `offset`, which no other file that ever had its name holds. Told once, before others know it.
  void set_mark(std::uint64_t offset, std::string_view bytes) noexcept;

  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// As io::ReadableFile::read_exactly; opens the file for it where it was closed. Errors: as open(), too.
  Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;

  /// For a call or two, during which the caller waits for nothing else. Errors: as open().
  Result<FilePin> pin() const noexcept { return pin_as(Wait::kForOthers); }
  /// For a read that is under way while its caller does other things. Errors: kBusy (enough are pinned so), as open().
  /// Does not wait for others' pins.
  Result<FilePin> pin_for_long() const noexcept;

 private:
  friend class FilePin;
  friend class OpenFiles;
  enum class Wait : std::uint8_t { kForOthers, kNever };

  /// Empty if it is closed.
  FilePin pin_open() const noexcept;
  Result<FilePin> pin_as(Wait wait) const noexcept;
  Result<std::unique_ptr<io::ReadableFile>> open_file(Wait wait) const;
  Status confirm(const io::ReadableFile& file) const VARVE_REQUIRES(opening_);

  /// Beside this bit: how many pins there are, and threads that look whether it is set.
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;

  OpenFiles& files_;
  io::Directory& directory_;
  const std::string name_;
  const std::uint64_t size_bytes_;

  mutable std::atomic<std::uint32_t> state_{0};
  mutable std::atomic<bool> used_{false};           // since the clock's hand passed
  mutable std::unique_ptr<io::ReadableFile> file_;  // changes under the mutex of OpenFiles, and never while pinned
  mutable std::size_t place_ = 0;                   // in the clock, while open; under the mutex of OpenFiles

  mutable io::Mutex opening_;
  mutable bool was_open_ VARVE_GUARDED_BY(opening_) = false;
  mutable io::FileKey key_ VARVE_GUARDED_BY(opening_);
  std::uint64_t mark_offset_ = 0;
  std::size_t mark_bytes_ = 0;
  std::uint64_t mark_hash_ = 0;
};

/// Any thread. Shared by stores. Its mutex is a leaf, under which nothing is opened or closed.
class OpenFiles {
 public:
  static constexpr std::size_t kCapacityMin = 8;
  static constexpr std::size_t kCapacityMax = 3072;
  /// Of a process that may have `limit` files open: a quarter. The rest is the host's, the log's and the rings'.
  static std::size_t capacity_for(std::uint64_t limit) noexcept;
  /// Of the capacity for this process.
  static std::shared_ptr<OpenFiles> make_for_process(io::Scheduler& scheduler);

  /// `capacity` is at least 1. `scheduler` outlives it.
  OpenFiles(io::Scheduler& scheduler, std::size_t capacity) noexcept;

  /// How many may be open. Sinks, and stays so, when the system refuses one.
  std::size_t capacity() const noexcept { return capacity_.load(std::memory_order_relaxed); }
  std::size_t open_count() const noexcept VARVE_EXCLUDES(mutex_);
  /// The system refused a descriptor: some files are closed, and fewer are kept open from now on. False: all that are
  /// open are pinned.
  bool give_some_up() noexcept VARVE_EXCLUDES(mutex_);
  /// Since it was made: files opened, closed for others, and opened again.
  std::uint64_t openings() const noexcept { return openings_.load(std::memory_order_relaxed); }
  std::uint64_t closings() const noexcept { return closings_.load(std::memory_order_relaxed); }

 private:
  friend class FilePin;
  friend class HeldFile;

  /// Closes files until one more may be opened, or all that are open are pinned.
  void make_room() noexcept VARVE_EXCLUDES(mutex_);
  /// Until a pinned file may have become free.
  void wait_a_moment() noexcept VARVE_EXCLUDES(mutex_);
  /// With a pin of the caller's. Throws std::bad_alloc, with nothing changed.
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
  std::vector<const HeldFile*> clock_ VARVE_GUARDED_BY(mutex_);  // the open ones
  std::size_t hand_ VARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace varve::engine
