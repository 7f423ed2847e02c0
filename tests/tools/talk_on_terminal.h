// Owns: a conversation with the program varve on a terminal: a line is typed at every prompt.
// Must never: type before a prompt, or leave a process running.
#pragma once

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/tools/run_on_terminal.h"

namespace varve::test {

/// `home` is the directory of the program's history. Ends when the program does.
inline TerminalResult talk_on_terminal(const std::vector<std::string>& arguments, const std::string& home,
                                       const std::string& prompt, const std::vector<std::string>& typed) {
  TerminalResult result;
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  std::array<char, 128> name{};
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0 ||
      ::ptsname_r(master, name.data(), name.size()) != 0)
    return result;
  const int held = ::open(name.data(), O_RDWR | O_NOCTTY);
  const pid_t process = ::fork();
  if (process == 0) {
    ::setenv("HOME", home.c_str(), 1);
    ::setenv("TERM", "dumb", 1);
    detail::become_program_at(name.data(), 100, arguments);
  }
  std::size_t next = 0;
  std::size_t seen = 0;  // prompts up to here were answered
  std::array<char, 4096> buffer;
  bool is_open = true;
  while (is_open) {
    const ssize_t bytes = ::read(master, buffer.data(), buffer.size());
    if (bytes <= 0) break;
    result.shown.append(buffer.data(), static_cast<std::size_t>(bytes));
    const std::size_t at = result.shown.find(prompt, seen);
    if (at == std::string::npos || next == typed.size()) continue;
    seen = result.shown.size();
    is_open = ::write(master, typed[next].data(), typed[next].size()) == static_cast<ssize_t>(typed[next].size());
    // After the last line the program ends. Its end of the terminal closes, which ends the reading.
    if (++next == typed.size()) ::close(held);
  }
  if (next < typed.size()) ::close(held);
  ::close(master);
  int status = 0;
  if (process > 0 && ::waitpid(process, &status, 0) == process && WIFEXITED(status))
    result.exit_code = WEXITSTATUS(status);
  return result;
}

}  // namespace varve::test
