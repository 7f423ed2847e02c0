// Owns: opening, closing and opening again (open_files.h).
// Must never: make a system call under the mutex of OpenFiles.
#include "engine/tables/open_files.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <new>

#include "engine/base/expected_file.h"
#include "format/bytes/checksum.h"
#include "io/posix/descriptor_limit.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// Attempts to open a file, one moment apart. A read ends long before that many moments.
constexpr int kAttemptsMax = 1000;
constexpr std::chrono::milliseconds kMoment{1};

}  // namespace

FilePin& FilePin::operator=(FilePin&& other) noexcept {
  if (this != &other) {
    release();
    held_ = std::exchange(other.held_, nullptr);
    is_long_ = std::exchange(other.is_long_, false);
  }
  return *this;
}

const io::ReadableFile& FilePin::operator*() const noexcept {
  assert(held_ != nullptr);
  return *held_->file_;
}

void FilePin::release() noexcept {
  if (held_ == nullptr) return;
  if (is_long_) held_->files_.give_long_pin();
  held_->state_.fetch_sub(1, std::memory_order_release);
  held_ = nullptr;
  is_long_ = false;
}

Result<std::unique_ptr<HeldFile>> HeldFile::open(OpenFiles& files, io::Scheduler& scheduler, io::Directory& directory,
                                                 std::string name, std::uint64_t size_bytes) {
  auto held = std::make_unique<HeldFile>(files, scheduler, directory, std::move(name), size_bytes);
  const Result<FilePin> opened = held->pin();
  if (!opened.ok()) return opened.status();
  return held;
}

HeldFile::HeldFile(OpenFiles& files, io::Scheduler& scheduler, io::Directory& directory, std::string name,
                   std::uint64_t size_bytes)
    : files_(files), directory_(directory), name_(std::move(name)), size_bytes_(size_bytes), opening_(scheduler) {}

HeldFile::~HeldFile() {
  files_.forget(*this);
}

void HeldFile::set_mark(std::uint64_t offset, std::string_view bytes) noexcept {
  mark_offset_ = offset;
  mark_bytes_ = bytes.size();
  mark_hash_ = format::content_hash(bytes);
}

Status HeldFile::read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const noexcept {
  const Result<FilePin> file = pin();
  return file.ok() ? (**file).read_exactly(offset, bytes) : file.status();
}

Status HeldFile::read_past_cache(std::uint64_t offset, std::span<std::byte> bytes) const noexcept {
  const Result<FilePin> file = pin();
  return file.ok() ? (**file).read_past_cache(offset, bytes) : file.status();
}

Result<FilePin> HeldFile::pin_for_long() const noexcept {
  if (!files_.take_long_pin()) return Status(Code::kBusy);
  Result<FilePin> pinned = pin_as(Wait::kNever);
  if (pinned.ok()) {
    pinned->is_long_ = true;
  } else {
    files_.give_long_pin();
  }
  return pinned;
}

FilePin HeldFile::pin_open() const noexcept {
  if ((state_.fetch_add(1, std::memory_order_acquire) & kOpen) == 0) {
    state_.fetch_sub(1, std::memory_order_release);
    return FilePin();
  }
  if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  return FilePin(*this);
}

Result<FilePin> HeldFile::pin_as(Wait wait) const noexcept {
  if (FilePin pinned = pin_open(); pinned) [[likely]]
    return pinned;
  try {
    const io::MutexGuard guard(opening_);
    if (FilePin pinned = pin_open(); pinned) return pinned;
    Result<std::unique_ptr<io::ReadableFile>> file = open_file(wait);
    if (!file.ok()) return file.status();
    if (Status same = confirm(**file); !same.ok()) return same;
    files_.keep(*this, *file);
    if (was_open_) io::probe("a table file was opened again");
    was_open_ = true;
    return FilePin(*this);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

/// Opens the file. If descriptors are short, closes as many other open files as needed.
Result<std::unique_ptr<io::ReadableFile>> HeldFile::open_file(Wait wait) const {
  for (int attempt = 1;; ++attempt) {
    files_.make_room();
    Result<std::unique_ptr<io::ReadableFile>> file = open_expected(directory_, name_, io::ReadMode::kDirect);
    if (file.code() != Code::kTooManyFiles || attempt == kAttemptsMax) return file;
    if (files_.give_some_up()) continue;
    if (wait == Wait::kNever) return file;
    files_.wait_a_moment();
  }
}

/// Checks O2. A copied file in the original's place has the mark too, and each of its blocks is verified like the
/// original's.
Status HeldFile::confirm(const io::ReadableFile& file) const {
  if (file.size_bytes() != size_bytes_) {
    return Status::corruption("has " + std::to_string(file.size_bytes()) + " bytes, but the manifest records " +
                              std::to_string(size_bytes_))
        .in_file(name_);
  }
  if (was_open_ && file.key() != key_) {
    io::probe("a table file had been replaced");
    std::string bytes(mark_bytes_, '\0');
    if (Status read = file.read_exactly(mark_offset_, std::as_writable_bytes(std::span(bytes))); !read.ok()) {
      return read;
    }
    if (format::content_hash(bytes) != mark_hash_) {
      return Status::corruption("was replaced by another file since it was first opened").in_file(name_);
    }
  }
  key_ = file.key();
  return Status();
}

std::shared_ptr<OpenFiles> OpenFiles::make_for_process(io::Scheduler& scheduler) {
  return std::make_shared<OpenFiles>(scheduler, capacity_for(io::descriptor_limit()));
}

OpenFiles::OpenFiles(io::Scheduler& scheduler, std::size_t capacity) noexcept
    : capacity_(capacity), mutex_(scheduler), moment_(scheduler) {
  assert(capacity > 0);
}

std::size_t OpenFiles::capacity_for(std::uint64_t limit) noexcept {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(limit / 4, kCapacityMin, kCapacityMax));
}

std::size_t OpenFiles::open_count() const noexcept {
  const io::MutexGuard guard(mutex_);
  return clock_.size();
}

bool OpenFiles::take_long_pin() noexcept {
  const std::size_t most = std::max<std::size_t>(capacity() / 2, 1);
  if (long_pins_.fetch_add(1, std::memory_order_relaxed) < most) return true;
  give_long_pin();
  return false;
}

void OpenFiles::make_room() noexcept {
  for (;;) {
    std::unique_ptr<io::ReadableFile> closed;  // closed after the mutex is released
    const io::MutexGuard guard(mutex_);
    if (clock_.size() < capacity()) return;
    closed = close_one();
    if (closed == nullptr) return;
  }
}

bool OpenFiles::give_some_up() noexcept {
  for (bool any = false;;) {
    std::unique_ptr<io::ReadableFile> closed;  // closed after the mutex is released
    const io::MutexGuard guard(mutex_);
    if (!any) {
      const std::size_t fewer = std::max<std::size_t>(clock_.size() * 3 / 4, 1);
      capacity_.store(std::min(capacity(), fewer), std::memory_order_relaxed);
    }
    if (any && clock_.size() < capacity()) return true;
    closed = close_one();
    if (closed == nullptr) return any;
    any = true;
  }
}

void OpenFiles::wait_a_moment() noexcept {
  const io::MutexGuard guard(mutex_);
  (void)moment_.wait_for(mutex_, kMoment);
}

void OpenFiles::keep(const HeldFile& held, std::unique_ptr<io::ReadableFile>& file) {
  const io::MutexGuard guard(mutex_);
  clock_.push_back(&held);
  held.place_ = clock_.size() - 1;
  held.file_ = std::move(file);
  held.used_.store(true, std::memory_order_relaxed);
  held.state_.fetch_add(HeldFile::kOpen + 1, std::memory_order_release);
  openings_.fetch_add(1, std::memory_order_relaxed);
}

void OpenFiles::forget(const HeldFile& held) noexcept {
  std::unique_ptr<io::ReadableFile> closed;  // closed after the mutex is released
  const io::MutexGuard guard(mutex_);
  const std::uint32_t state = held.state_.load(std::memory_order_acquire);
  assert((state & ~HeldFile::kOpen) == 0);  // O1
  if ((state & HeldFile::kOpen) == 0) return;
  leave_clock(held);
  closed = std::move(held.file_);
}

/// Removes a file from the clock and returns it. Returns null if all are pinned: in two rounds, the hand meets each
/// file without its second chance.
std::unique_ptr<io::ReadableFile> OpenFiles::close_one() noexcept {
  for (std::size_t steps = 2 * clock_.size(); steps > 0; --steps) {
    if (hand_ >= clock_.size()) hand_ = 0;
    const HeldFile& held = *clock_[hand_];
    ++hand_;
    if (held.used_.exchange(false, std::memory_order_relaxed)) continue;
    std::uint32_t unpinned = HeldFile::kOpen;
    if (!held.state_.compare_exchange_strong(unpinned, 0, std::memory_order_acquire)) continue;
    leave_clock(held);
    closings_.fetch_add(1, std::memory_order_relaxed);
    io::probe("a table file was closed for another one");
    return std::move(held.file_);
  }
  return nullptr;
}

void OpenFiles::leave_clock(const HeldFile& held) noexcept {
  assert(clock_[held.place_] == &held);
  clock_.back()->place_ = held.place_;
  clock_[held.place_] = clock_.back();
  clock_.pop_back();
}

}  // namespace varve::engine
