#include "tools/varve/blob/part_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace varve::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBackBytes = std::size_t{1} << 20;
/// An ending that no other program writes, and other lines of this program neither.
constexpr std::string_view kPartEnding = ".varve-part";
/// The digits of an ETag's number.
constexpr std::size_t kPartDigits = 18;

std::string part_number(const BlobState& blob) {
  const std::string digits = std::to_string(blob.etag.timestamp().ticks);
  return std::string(kPartDigits - std::min(kPartDigits, digits.size()), '0') + digits;
}

/// Returns whether a name is that of a part of the file `target`: `target.<18 digits or more>.varve-part`.
bool is_part_of(std::string_view name, std::string_view target) noexcept {
  if (!name.starts_with(target) || !name.ends_with(kPartEnding)) return false;
  name.remove_prefix(target.size());
  if (name.size() < kPartEnding.size() + 1 + kPartDigits || name.front() != '.') return false;
  name.remove_suffix(kPartEnding.size());
  name.remove_prefix(1);
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Removes a part, unless it is no file or another program writes it.
void remove_unused(const std::string& path) {
  const OwnedDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat state {};
  if (!file.is_open() || ::fstat(file.number(), &state) != 0 || !S_ISREG(state.st_mode)) return;
  if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
}

}  // namespace

PartFile::PartFile(std::string path, const BlobState& blob) : target_(std::move(path)), blob_(blob) {
  std::error_code none;
  if (fs::exists(target_, none)) target_ = fs::canonical(target_, none).string();
  part_ = target_ + "." + part_number(blob) + std::string(kPartEnding);
}

Status PartFile::failed(int error) const {
  return Status::io_error(part_ + ": cannot be written completely: " + std::generic_category().message(error));
}

void PartFile::remove_earlier() const {
  std::error_code none;
  const fs::path directory = fs::path(target_).parent_path();
  const std::string own = fs::path(part_).filename().string();
  const std::string target = fs::path(target_).filename().string();
  for (const fs::directory_entry& entry : fs::directory_iterator(directory.empty() ? "." : directory, none)) {
    const std::string name = entry.path().filename().string();
    if (name != own && is_part_of(name, target)) remove_unused(entry.path().string());
  }
}

Status PartFile::open(BlobSource& blob) {
  file_ = OwnedDescriptor(::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file_.is_open()) return failed(errno);
  if (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
    return Status(Code::kLocked, part_ + ": another program writes this file").with_hint("wait until it has ended");
  }
  remove_earlier();
  return read_back(blob);
}

/// Reads the bytes that the file has. Bytes that cannot be the blob's are cut.
Status PartFile::read_back(BlobSource& blob) {
  std::string here(kReadBackBytes, '\0');
  std::string there(blob_.crc64 ? 0 : kReadBackBytes, '\0');
  while (bytes_ < blob_.length) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(here.size(), blob_.length - bytes_));
    const ssize_t got = ::pread(file_.number(), here.data(), wanted, static_cast<off_t>(bytes_));
    if (got < 0) return failed(errno);
    if (got == 0) break;
    const std::string_view read = std::string_view(here).substr(0, static_cast<std::size_t>(got));
    if (!blob_.crc64) {
      const Result<std::size_t> count = blob.read(bytes_, std::span<char>(there).first(read.size()));
      if (!count.ok()) return count.status();
      if (std::string_view(there).substr(0, *count) != read) break;
    }
    crc64_.update(read);
    bytes_ += read.size();
  }
  return ::ftruncate(file_.number(), static_cast<off_t>(bytes_)) == 0 ? Status() : failed(errno);
}

Status PartFile::append(std::string_view bytes) {
  crc64_.update(bytes);
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(errno);
    bytes_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status();
}

Status PartFile::finish() {
  if (blob_.crc64 && crc64_.value() != *blob_.crc64) {
    ::unlink(part_.c_str());
    return Status::io_error(part_ + ": the bytes of the earlier line are not those of the blob; the file was removed")
        .with_hint("give the same line again; it begins anew");
  }
  struct stat before {};
  if (::stat(target_.c_str(), &before) == 0) (void)::fchmod(file_.number(), before.st_mode & 07777U);
  if (::fsync(file_.number()) != 0) return failed(errno);
  if (::rename(part_.c_str(), target_.c_str()) != 0) return failed(errno);
  const fs::path directory = fs::path(target_).parent_path();
  const OwnedDescriptor parent(::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return parent.is_open() && ::fsync(parent.number()) == 0 ? Status() : failed(errno);
}

}  // namespace varve::tool
