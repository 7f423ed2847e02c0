// Owns: the checks of paths (posix_place.h).
// Must never: follow a symbolic link in place of a file.
#include "io/posix/posix_place.h"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "io/os_error.h"
#include "io/probe.h"

namespace varve::io {
namespace {

Status fenced(std::string_view call, std::string_view path, std::string_view why) noexcept {
  probe("a file or directory was taken away from its owner");
  return call_error(Code::kFenced, {call, path}, {why});
}

/// Returns the identity of the file that the path names, without following a link; nothing if the call fails. It does not
/// ask for the times of the file. Once a caller has seen them, Linux 6.13 and later give the next write new times, and a
/// durable write to an ext4 without a journal then also writes the inode.
std::optional<FileIdentity> identity_at(const std::string& path) noexcept {
  struct statx named {};
  // NFS asks the server because of the count of links.
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_NLINK, &named) != 0) return std::nullopt;
  return FileIdentity{::makedev(named.stx_dev_major, named.stx_dev_minor), named.stx_ino};
}

constexpr std::string_view kOtherDirectory =
    "another directory has taken the path of the store; close this store and open the path again";

}  // namespace

DirectoryPlace::DirectoryPlace(int descriptor, const std::string& path) {
  struct FreeText {
    void operator()(char* text) const noexcept { std::free(text); }
  };
  const std::unique_ptr<char, FreeText> resolved(::realpath(path.c_str(), nullptr));
  struct stat open {};
  if (resolved == nullptr || ::fstat(descriptor, &open) != 0) return;
  identity_ = FileIdentity::of(open);
  path_ = resolved.get();
  if (!is_here()) path_.clear();
}

bool DirectoryPlace::is_taken() const noexcept {
  struct stat now {};
  return !path_.empty() && ::stat(path_.c_str(), &now) == 0 && FileIdentity::of(now) != identity_;
}

bool DirectoryPlace::is_here() const noexcept {
  struct stat now {};
  return !path_.empty() && ::stat(path_.c_str(), &now) == 0 && FileIdentity::of(now) == identity_;
}

Status DirectoryPlace::check(int descriptor, std::string_view call) const noexcept {
  if (path_.empty()) return Status();
  if (is_taken()) return fenced(call, path_, kOtherDirectory);
  struct stat open {};
  if (::fstat(descriptor, &open) == 0 && open.st_nlink == 0) return fenced(call, path_, "the directory was removed");
  return Status();
}

FilePlace::FilePlace(std::shared_ptr<const DirectoryPlace> directory, const std::string& name, int descriptor)
    : directory_(std::move(directory)) {
  if (directory_ == nullptr || directory_->path().empty()) return;
  const std::string path = directory_->path() + "/" + name;
  struct stat open {};
  struct stat named {};
  if (::fstat(descriptor, &open) != 0 || ::lstat(path.c_str(), &named) != 0) return;
  identity_ = FileIdentity::of(open);
  if (identity_ == FileIdentity::of(named)) path_ = path;
}

Status FilePlace::check(int descriptor, std::string_view call) const noexcept {
  if (path_.empty()) return Status();
  const std::optional<FileIdentity> named = identity_at(path_);
  if (named == identity_) [[likely]]
    return Status();
  return explain(descriptor, call, named.has_value());
}

Status FilePlace::explain(int descriptor, std::string_view call, bool is_other_file) const noexcept {
  if (directory_->is_taken()) return fenced(call, path_, kOtherDirectory);
  if (is_other_file) return fenced(call, path_, "another file has taken the name of this one");
  struct stat open {};
  if (::fstat(descriptor, &open) == 0 && open.st_nlink == 0) return fenced(call, path_, "the file was removed");
  if (!directory_->is_here()) return Status();
  // The path is checked again, because a moved directory may have returned in between.
  struct stat named {};
  if (::lstat(path_.c_str(), &named) == 0 ? FileIdentity::of(named) == identity_ : errno != ENOENT) return Status();
  return fenced(call, path_, "the file was renamed");
}

}  // namespace varve::io
