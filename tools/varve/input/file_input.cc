#include "tools/varve/input/file_input.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/varve/input/stop_signal.h"

namespace varve::tool {

Result<std::unique_ptr<FileInput>> FileInput::open(const std::string& path) {
  const bool standard_input = path == "-";
  std::unique_ptr<FileInput> input(new FileInput(standard_input ? "standard input" : path));
  input->descriptor_ = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (input->descriptor_ < 0) return input->failed("cannot be read");
  struct stat about {};
  if (::fstat(input->descriptor_, &about) != 0) return input->failed("cannot be read");
  if (S_ISDIR(about.st_mode)) return Status::io_error(path + ": is a directory; name the files in it");
  if (S_ISREG(about.st_mode)) input->total_bytes_ = static_cast<std::uint64_t>(about.st_size);
  return input;
}

FileInput::~FileInput() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Status FileInput::failed(const char* what) const {
  return Status::io_error(name_ + ": " + what + ": " + std::generic_category().message(errno));
}

std::size_t FileInput::read(char* bytes, std::size_t size) {
  while (end() == InputEnd::kNone) {
    if (!wait_readable(descriptor_)) return end_by_signal(stop_signal_seen());
    const ssize_t got = ::read(descriptor_, bytes, size);
    // Reads again: in non-blocking mode another reader of the same pipe may have taken the bytes.
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (got < 0) return end_by_error(failed("reading failed"));
    if (got == 0) return end_of_file();
    bytes_read_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
  return 0;
}

}  // namespace varve::tool
