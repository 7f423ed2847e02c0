#include "tools/serve/transport/service_manager.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace varve::serve {
namespace {

/// The longest wait for a manager that does not read its messages, in seconds.
constexpr time_t kManagerTime = 5;

std::string variable(const char* name) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread changes the environment
  return text == nullptr ? std::string() : std::string(text);
}

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

/// Sends a datagram. Returns 0 or the errno. An address that begins with @ has no file.
int send_datagram(int socket, const std::string& address, std::string_view message, int flags) noexcept {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address.size() >= sizeof(name.sun_path)) return ENAMETOOLONG;
  std::memcpy(name.sun_path, address.data(), address.size());
  const bool is_abstract = name.sun_path[0] == '@';
  if (is_abstract) name.sun_path[0] = '\0';
  if (!is_abstract && name.sun_path[0] != '/') return EAFNOSUPPORT;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the form of the system call
  const auto* const to = reinterpret_cast<const sockaddr*>(&name);
  while (::sendto(socket, message.data(), message.size(), flags | MSG_NOSIGNAL, to, size) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// Returns a status as one line, since a line ends an assignment of the protocol.
std::string one_line(std::string_view status) {
  std::string line(status);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// Returns the monotonic clock in microseconds. Newer managers compare it with the time of their own signal.
std::string monotonic_microseconds() {
  constexpr std::int64_t kMicroseconds = 1'000'000;
  constexpr std::int64_t kNanoseconds = 1'000;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::to_string(now.tv_sec * kMicroseconds + now.tv_nsec / kNanoseconds);
}

}  // namespace

ServiceManager::ServiceManager() : address_(variable("NOTIFY_SOCKET")) {
  if (address_.empty()) return;
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const timeval patience{kManagerTime, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  const std::string watched = variable("WATCHDOG_PID");
  if (!watched.empty() && number_of(watched) != ::getpid()) return;
  watchdog_ = std::chrono::microseconds(std::max<std::int64_t>(number_of(variable("WATCHDOG_USEC")), 0));
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

Status ServiceManager::ready(std::string_view status) const {
  return send("READY=1\nSTATUS=" + one_line(status));
}

Status ServiceManager::reloading() const {
  return send("RELOADING=1\nMONOTONIC_USEC=" + monotonic_microseconds() + "\nSTATUS=Reading the settings again");
}

Status ServiceManager::stopping() const {
  return send("STOPPING=1\nSTATUS=Answering the last requests and closing the store");
}

void ServiceManager::alive() const noexcept {
  if (!address_.empty()) send_datagram(socket_, address_, "WATCHDOG=1", MSG_DONTWAIT);
}

Status ServiceManager::send(std::string_view message) const {
  if (address_.empty()) return Status();
  const int error = send_datagram(socket_, address_, message, 0);
  if (error == 0) return Status();
  return Status::io_error("cannot send to the service manager at NOTIFY_SOCKET=" + address_ + ": " +
                          std::generic_category().message(error));
}

}  // namespace varve::serve
