// Owns: input of the program varve that ends at a chosen byte: by a signal, by a read error, or by its real end.
// Must never: depend on how fast the program reads.
#pragma once

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "tests/tools/run_program.h"

namespace varve::test {

/// Waits until the reader of a pipe has read all written bytes, or is gone.
inline void wait_until_taken(int writer) {
  for (;;) {
    int left = 0;
    pollfd reader{writer, POLLOUT, 0};
    if (::ioctl(writer, FIONREAD, &left) != 0 || left == 0) return;
    if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) return;
    ::sched_yield();
  }
}

/// Runs the program, which reads `input` from the pipe at `path` and then gets the signal.
inline ProgramResult run_with_signal(const std::vector<std::string>& arguments, const std::string& path,
                                     const std::string& input, int signal) {
  if (::mkfifo(path.c_str(), 0600) != 0 && errno != EEXIST) return {};
  RunningProgram program(arguments);
  const int writer = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);  // waits for the reader, whose signals are set
  const bool written = ::write(writer, input.data(), input.size()) == static_cast<ssize_t>(input.size());
  wait_until_taken(writer);
  ::kill(program.process(), signal);
  ProgramResult result = program.finish();
  ::close(writer);
  if (!written) result.exit_code = -1;
  return result;
}

/// Runs the program, which reads `input` from a terminal that then hangs up: EIO.
inline ProgramResult run_with_read_error(const std::vector<std::string>& arguments, const std::string& input) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  std::array<char, 128> name{};
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0 ||
      ::ptsname_r(master, name.data(), name.size()) != 0)
    return {};
  const int slave = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios raw{};
  if (slave < 0 || ::tcgetattr(slave, &raw) != 0) return {};
  ::cfmakeraw(&raw);
  ::tcsetattr(slave, TCSANOW, &raw);
  if (::write(slave, input.data(), input.size()) != static_cast<ssize_t>(input.size())) return {};
  ProgramLimits limits;
  limits.input_descriptor = master;
  RunningProgram program(arguments, "", limits);
  ::close(slave);
  ::close(master);
  return program.finish();
}

}  // namespace varve::test
