#include "tools/serve/transport/secret_file.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/varve/base/owned_descriptor.h"

namespace varve::serve {
namespace {

constexpr std::size_t kBytesMax = std::size_t{1} << 20;
/// The longest wait for the writer of a pipe, in milliseconds.
constexpr int kPipeTime = 2'000;

Status refuse(std::string_view what, const std::string& path, const std::string& why) {
  return Status::invalid_argument(std::string(what) + " \"" + path + "\" " + why);
}

Result<std::string> read_all(const tool::OwnedDescriptor& file, std::string_view what, const std::string& path) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd waiting{file.number(), POLLIN, 0};
      if (::poll(&waiting, 1, kPipeTime) == 0) return refuse(what, path, "is a pipe that nobody writes to");
      continue;
    }
    if (count < 0) return refuse(what, path, "cannot be read: " + std::generic_category().message(errno));
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > kBytesMax) return refuse(what, path, "is too large; at most 1 MiB is allowed");
  }
}

}  // namespace

Result<FileText> read_file_text(std::string_view what, const std::string& path) {
  const tool::OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0 && errno == ENOENT) return refuse(what, path, "does not exist");
  if (file.number() < 0) return refuse(what, path, "cannot be opened: " + std::generic_category().message(errno));
  struct stat about {};
  if (::fstat(file.number(), &about) != 0 || S_ISDIR(about.st_mode)) return refuse(what, path, "is not a file");
  Result<std::string> text = read_all(file, what, path);
  if (!text.ok()) return text.status();
  return FileText{*std::move(text), (about.st_mode & (S_IROTH | S_IWOTH)) != 0};
}

Status refuse_exposed(std::string_view what, const std::string& path) {
  return refuse(what, path, "can be read or written by every user of this machine; run `chmod o= '" + path + "'`");
}

Result<std::string> read_secret_file(std::string_view what, const std::string& path) {
  Result<FileText> file = read_file_text(what, path);
  if (!file.ok()) return file.status();
  if ((*file).is_exposed) return refuse_exposed(what, path);
  return std::move((*file).text);
}

Result<std::string> read_public_file(std::string_view what, const std::string& path) {
  Result<FileText> file = read_file_text(what, path);
  if (!file.ok()) return file.status();
  return std::move((*file).text);
}

}  // namespace varve::serve
