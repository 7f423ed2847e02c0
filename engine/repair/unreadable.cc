// Owns: the pieces in which a failed read is retried (unreadable.h).
// Must never: retry a sector that failed twice. A dying device needs seconds for each try, and decays further.
#include "engine/repair/unreadable.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/os_error.h"
#include "io/probe.h"

namespace varve::engine {
namespace {

/// Replaces a byte that could not be read. It is not zero, which means "never written" in a log.
constexpr std::byte kUnreadableByte{0xE5};

class TolerantFile final : public io::ReadableFile {
 public:
  TolerantFile(std::unique_ptr<io::ReadableFile> file, std::string name, UnreadableParts& parts) noexcept
      : file_(std::move(file)), name_(std::move(name)), parts_(parts) {}

  std::uint64_t size_bytes() const noexcept override { return file_->size_bytes(); }
  io::FileKey key() const noexcept override { return file_->key(); }

  Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const override {
    if (is_known(offset, bytes.size())) return read_around(offset, bytes);
    const Status read = file_->read_exactly(offset, bytes);
    if (read.ok()) parts_.count_read(bytes.size());
    return is_unreadable(read) ? read_around(offset, bytes) : read;
  }

 private:
  /// Returns whether the other parts of the file may be readable: this one failed, or it is lost.
  static bool is_unreadable(const Status& read) noexcept {
    return is_device_error(read) || read.code() == Code::kCorruption;
  }
  /// Reads the sectors of a range, and halves the range until a failing part is one sector.
  Status read_around(std::uint64_t offset, std::span<std::byte> bytes) const {
    const std::uint64_t first = offset / io::kSectorBytes;
    const std::uint64_t last = (offset + std::max<std::size_t>(bytes.size(), 1) - 1) / io::kSectorBytes;
    if (first == last) return read_sector(offset, bytes);
    if (!is_known(offset, bytes.size())) {
      const Status read = file_->read_exactly(offset, bytes);
      if (read.ok()) parts_.count_read(bytes.size());
      if (!is_unreadable(read)) return read;
    }
    const std::uint64_t middle = (first + (last - first + 1) / 2) * io::kSectorBytes;
    const auto left = static_cast<std::size_t>(middle - offset);
    if (Status read = read_around(offset, bytes.first(left)); !read.ok()) return read;
    return read_around(middle, bytes.subspan(left));
  }

  Status read_sector(std::uint64_t offset, std::span<std::byte> bytes) const {
    Status read;
    if (!is_known(offset, bytes.size())) {
      read = file_->read_exactly(offset, bytes);
      if (is_unreadable(read)) read = file_->read_exactly(offset, bytes);  // Retry once: the error may be transient.
      if (read.ok()) parts_.count_read(bytes.size());
      if (!is_unreadable(read)) return read;
      const std::uint64_t begin = offset / io::kSectorBytes * io::kSectorBytes;
      parts_.add(name_, begin, std::min(begin + io::kSectorBytes, size_bytes()), read);
      io::probe("a repair read on around an error of the device");
    }
    std::fill(bytes.begin(), bytes.end(), kUnreadableByte);
    return Status();
  }

  /// Returns whether a part of the range failed before.
  bool is_known(std::uint64_t offset, std::size_t bytes) const noexcept {
    return parts_.overlaps(name_, offset, offset + bytes);
  }

  const std::unique_ptr<io::ReadableFile> file_;
  const std::string name_;
  UnreadableParts& parts_;
};

Status refused() {
  return Status(Code::kReadOnly, "a repair only reads the damaged store");
}

}  // namespace

bool is_device_error(const Status& status) noexcept {
  return status.code() == Code::kIoError && !io::is_missing(status);
}

void UnreadableParts::add(const std::string& name, std::uint64_t begin, std::uint64_t end, const Status& why) {
  const io::MutexGuard guard(mutex_);
  if (first_.ok()) first_ = why;
  first_of_file_.emplace(name, why);
  UnreadableRanges& ranges = ranges_[name];
  auto next = ranges.upper_bound(begin);
  if (next != ranges.begin()) {
    const auto before = std::prev(next);
    if (before->second >= begin) {
      begin = before->first;
      end = std::max(end, before->second);
      ranges.erase(before);
    }
  }
  while (next != ranges.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ranges.erase(next);
  }
  ranges[begin] = end;
}

void UnreadableParts::add_file(const std::string& name, const Status& why) {
  const io::MutexGuard guard(mutex_);
  if (first_.ok()) first_ = why;
  first_of_file_.emplace(name, why);
}

void UnreadableParts::count_read(std::uint64_t bytes) noexcept {
  const io::MutexGuard guard(mutex_);
  read_bytes_ += bytes;
}

bool UnreadableParts::has_any(std::string_view name, std::uint64_t offset) const noexcept {
  const io::MutexGuard guard(mutex_);
  const auto found = ranges_.find(name);
  return found != ranges_.end() && !found->second.empty() && found->second.rbegin()->second > offset;
}

bool UnreadableParts::overlaps(std::string_view name, std::uint64_t begin, std::uint64_t end) const noexcept {
  const io::MutexGuard guard(mutex_);
  const auto found = ranges_.find(name);
  if (found == ranges_.end()) return false;
  const auto next = found->second.lower_bound(end);  // The last range that begins before the end decides.
  return next != found->second.begin() && std::prev(next)->second > begin;
}

Status UnreadableParts::nothing_was_read() const {
  const io::MutexGuard guard(mutex_);
  return read_bytes_ == 0 ? first_ : Status();
}

std::vector<std::string> UnreadableParts::findings() const {
  std::vector<std::string> lines;
  const io::MutexGuard guard(mutex_);
  for (const auto& [name, why] : first_of_file_) {
    const auto found = ranges_.find(name);
    if (found == ranges_.end()) {
      lines.push_back(name + ": cannot be opened: " + std::string(why.message()));
      continue;
    }
    for (const auto& [begin, end] : found->second) {
      lines.push_back(name + " at offset " + std::to_string(begin) + ": " + std::to_string(end - begin) +
                      " bytes cannot be read: " + std::string(why.message()));
    }
  }
  return lines;
}

Result<std::unique_ptr<io::ReadableFile>> TolerantDirectory::open(std::string_view name, io::ReadMode mode) {
  Result<std::unique_ptr<io::ReadableFile>> file = directory_.open(name, mode);
  if (is_device_error(file.status())) file = directory_.open(name, mode);  // Retry once: the error may be transient.
  if (is_device_error(file.status())) {
    parts_.add_file(std::string(name), file.status());
    return Status::corruption("cannot be opened: " + std::string(file.status().message())).in_file(name);
  }
  if (!file.ok()) return file;
  return std::unique_ptr<io::ReadableFile>(std::make_unique<TolerantFile>(*std::move(file), std::string(name), parts_));
}

Result<std::unique_ptr<io::WritableFile>> TolerantDirectory::create(std::string_view /*name*/) {
  return refused();
}
Result<std::unique_ptr<io::LogSegment>> TolerantDirectory::create_log_segment(std::string_view /*name*/,
                                                                              std::uint64_t /*bytes*/) {
  return refused();
}
Result<std::unique_ptr<io::SharedMemory>> TolerantDirectory::create_shared_memory(std::string_view /*name*/,
                                                                                  std::uint64_t /*bytes*/) {
  return refused();
}
Status TolerantDirectory::replace(std::string_view /*name*/, std::span<const std::byte> /*expected*/,
                                  std::span<const std::byte> /*content*/, io::SyncPoint /*point*/) {
  return refused();
}
Status TolerantDirectory::link(std::string_view /*name*/, io::Directory& /*into*/) {
  return refused();
}
Status TolerantDirectory::remove(std::string_view /*name*/) {
  return refused();
}
Status TolerantDirectory::sync(io::SyncPoint /*point*/) {
  return refused();
}
Status TolerantDirectory::confirm_owner() {
  return refused();
}
Status TolerantDirectory::set_ballast(std::string_view /*name*/, std::uint64_t /*bytes*/) {
  return refused();
}
Result<std::unique_ptr<io::DirectoryLock>> TolerantDirectory::lock(std::string_view name, io::LockMode mode,
                                                                   std::chrono::milliseconds wait_max) {
  return directory_.lock(name, mode, wait_max);
}

}  // namespace varve::engine
