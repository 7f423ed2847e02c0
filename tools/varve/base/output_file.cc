#include "tools/varve/base/output_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace varve::tool {

namespace {

namespace fs = std::filesystem;

/// Returns zero, or the error number.
int sync_file(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  return error;
}

}  // namespace

Status OutputFile::failed(int error) const {
  return Status::io_error(path_ + ": cannot be written completely: " + std::generic_category().message(error));
}

Status OutputFile::open() {
  std::error_code none;
  const fs::file_status before = fs::status(path_, none);
  errno = 0;
  if (fs::exists(before) && !fs::is_regular_file(before)) {
    out_.open(path_, std::ios::binary);
    return out_ ? Status() : failed(errno);
  }
  const fs::path target = fs::exists(before) ? fs::canonical(path_, none) : fs::path(path_);
  target_ = target.string();
  unfinished_ = target_ + "." + std::to_string(::getpid()) + ".part";
  errno = 0;
  out_.open(unfinished_, std::ios::binary | std::ios::trunc);
  if (!out_) return failed(errno);
  // otherwise a new file's permissions stay
  if (fs::exists(before)) fs::permissions(unfinished_, before.permissions(), none);
  return Status();
}

Status OutputFile::finish() {
  errno = 0;
  out_.close();
  if (!out_) return failed(errno);
  if (unfinished_.empty()) return Status();
  if (const int error = sync_file(unfinished_, O_RDONLY); error != 0) return failed(error);
  if (::rename(unfinished_.c_str(), target_.c_str()) != 0) return failed(errno);
  unfinished_.clear();
  const fs::path directory = fs::path(target_).parent_path();
  const int error = sync_file(directory.empty() ? "." : directory.string(), O_RDONLY | O_DIRECTORY);
  return error == 0 ? Status() : failed(error);
}

OutputFile::~OutputFile() {
  if (unfinished_.empty()) return;
  out_.close();
  ::unlink(unfinished_.c_str());
}

}  // namespace varve::tool
