#include "tools/serve/transport/secret_file.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace varve::serve {
namespace {

constexpr std::size_t kBytesMax = std::size_t{1} << 20;

Status refuse(std::string_view what, const std::string& path, const std::string& why) {
  return Status::invalid_argument(std::string(what) + " \"" + path + "\" " + why);
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) noexcept : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

Result<std::string> read_all(const Descriptor& file, std::string_view what, const std::string& path) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse(what, path, "cannot be read: " + std::generic_category().message(errno));
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > kBytesMax) return refuse(what, path, "is too large; at most 1 MiB is allowed");
  }
}

/// Reads a file. It checks the opened file, so that a later change of the name has no effect.
Result<std::string> read_file(std::string_view what, const std::string& path, bool is_secret) {
  const Descriptor file(path);
  if (file.number() < 0 && errno == ENOENT) return refuse(what, path, "does not exist");
  if (file.number() < 0) return refuse(what, path, "cannot be opened: " + std::generic_category().message(errno));
  struct stat about {};
  if (::fstat(file.number(), &about) != 0 || S_ISDIR(about.st_mode)) return refuse(what, path, "is not a file");
  if (is_secret && (about.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return refuse(what, path, "can be read or written by every user of this machine; run `chmod o= '" + path + "'`");
  }
  return read_all(file, what, path);
}

}  // namespace

Result<std::string> read_secret_file(std::string_view what, const std::string& path) {
  return read_file(what, path, true);
}

Result<std::string> read_public_file(std::string_view what, const std::string& path) {
  return read_file(what, path, false);
}

}  // namespace varve::serve
