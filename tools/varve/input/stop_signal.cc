#include "tools/varve/input/stop_signal.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace varve::tool {

namespace {

volatile std::sig_atomic_t signal_seen = 0;
/// A descriptor that is readable after a signal on any thread. No signal is missed between a check and a wait.
int signal_event = -1;

void note_signal(int number) {
  const int error = errno;
  signal_seen = number;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(signal_event, &one, sizeof one);
  errno = error;
}

}  // namespace

void stop_reading_on_signals() {
  if (signal_event < 0) signal_event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::uint64_t before_now = 0;
  [[maybe_unused]] const ssize_t forgotten = ::read(signal_event, &before_now, sizeof before_now);
  signal_seen = 0;
  struct sigaction action {};
  action.sa_handler = &note_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int number : std::array{SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // A signal that was ignored (as nohup does) stays ignored.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int stop_signal_seen() noexcept {
  return signal_seen;
}

bool wait_readable(int descriptor) {
  std::array<pollfd, 2> waited{pollfd{descriptor, POLLIN, 0}, pollfd{signal_event, POLLIN, 0}};
  while (signal_seen == 0) {
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return true;  // The read reports the reason.
    if (waited[0].revents != 0 && signal_seen == 0) return true;
  }
  return false;
}

}  // namespace varve::tool
