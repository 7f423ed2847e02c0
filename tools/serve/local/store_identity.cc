#include "tools/serve/local/store_identity.h"

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/log/root.h"
#include "tools/varve/base/owned_descriptor.h"

namespace varve::serve {
namespace {

Status failed(const char* call) {
  const int error = errno;
  const Code code = error == ENOENT ? Code::kNotFound : Code::kIoError;
  return Status(code, std::string(call) + ": " + std::generic_category().message(error)).with_os_error(error);
}

Result<std::string> read_root(int directory) {
  const tool::OwnedDescriptor file(
      ::openat(directory, std::string(format::kRootName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return failed("open CURRENT");
  std::string bytes(format::kRootBytesMax + 1, '\0');
  std::size_t size = 0;
  ssize_t count = 0;
  do {
    count = ::read(file.number(), bytes.data() + size, bytes.size() - size);
    if (count > 0) size += static_cast<std::size_t>(count);
  } while (count > 0 || (count < 0 && errno == EINTR));
  if (count < 0) return failed("read CURRENT");
  bytes.resize(size);
  return bytes;
}

/// Returns the id in the CURRENT of an open directory.
Result<std::string> store_id(int directory) {
  const Result<std::string> bytes = read_root(directory);
  if (!bytes.ok()) return bytes.status();
  const Result<format::Root> root = format::decode_root(*bytes);
  if (!root.ok()) return root.status().in_file(format::kRootName);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto byte : (*root).store_id) {
    const auto bits = static_cast<unsigned>(byte) & 0xFFU;
    text += kDigits[bits >> 4U];
    text += kDigits[bits & 0xFU];
  }
  return text;
}

}  // namespace

Result<std::string> store_identity(int descriptor) {
  const Result<std::string> id = store_id(descriptor);
  if (!id.ok()) return id;
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return failed("stat the store's directory");
  return *id + "-" + std::to_string(about.st_dev) + "-" + std::to_string(about.st_ino);
}

Result<std::string> store_id_in(const std::string& directory) {
  const tool::OwnedDescriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) return failed("open the store's directory");
  return store_id(opened.number());
}

}  // namespace varve::serve
