#include "tools/serve/local/served_place.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/serve/local/store_identity.h"

namespace varve::serve {
namespace {

Status failed(const char* call, const std::string& path) {
  const int error = errno;
  const Code code = error == ENOSPC || error == EDQUOT ? Code::kNoSpace : Code::kIoError;
  return Status(code, std::string(call) + " " + path + ": " + std::generic_category().message(error))
      .with_os_error(error);
}

}  // namespace

std::string socket_address(int served_directory) {
  return "/proc/self/fd/" + std::to_string(served_directory) + "/" + kSocketName;
}

void remove_served(const std::string& store) {
  std::error_code ignored;
  std::filesystem::remove_all(std::filesystem::path(store) / kServedName, ignored);
}

ServedPlace::ServedPlace(std::string store, std::string identity, int descriptor)
    : store_(std::move(store)),
      path_(store_ + "/" + kServedName),
      identity_(std::move(identity)),
      descriptor_(descriptor) {}

ServedPlace::ServedPlace(ServedPlace&& other) noexcept
    : store_(std::move(other.store_)),
      path_(std::move(other.path_)),
      identity_(std::move(other.identity_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

ServedPlace::~ServedPlace() {
  if (descriptor_ < 0) return;
  remove();
}

void ServedPlace::remove() noexcept {
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  try {
    remove_served(store_);
  } catch (const std::bad_alloc&) {  // The next holder of the store removes it.
  }
}

Result<ServedPlace> ServedPlace::create(const std::string& store) {
  const int directory = ::open(store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return failed("open", store);
  Result<std::string> identity = store_identity(directory);
  ::close(directory);
  if (!identity.ok()) return identity.status();
  remove_served(store);
  const std::string path = store + "/" + kServedName;
  if (::mkdir(path.c_str(), S_IRWXU) != 0) return failed("mkdir", path);
  const int served = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (served < 0) return failed("open", path);
  return ServedPlace(store, *std::move(identity), served);
}

}  // namespace varve::serve
