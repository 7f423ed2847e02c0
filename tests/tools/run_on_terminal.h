// Owns: running the program varve on a terminal.
// Must never: leave a process running.
#pragma once

#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace varve::test {

struct TerminalResult {
  int exit_code = -1;
  /// Output and errors in their order. Lines end in CR LF.
  std::string shown;
};

namespace detail {

[[noreturn]] inline void become_program_at(const char* terminal, unsigned short columns,
                                           const std::vector<std::string>& arguments) {
  const int descriptor = ::open(terminal, O_RDWR | O_NOCTTY);
  winsize size{};
  size.ws_row = 25;
  size.ws_col = columns;
  if (descriptor < 0 || ::ioctl(descriptor, TIOCSWINSZ, &size) != 0) ::_exit(126);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(descriptor, standard);
  std::vector<std::string> words{VARVE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(VARVE_PROGRAM, pointers.data());
  ::_exit(127);
}

}  // namespace detail

/// If the program shows `question`, `answer` is called once, and the program reads what it returns.
inline TerminalResult run_on_terminal(const std::vector<std::string>& arguments, unsigned short columns,
                                      const std::string& question = "", std::function<std::string()> answer = nullptr) {
  TerminalResult result;
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  std::array<char, 128> name{};
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0 ||
      ::ptsname_r(master, name.data(), name.size()) != 0)
    return result;
  // Held open here too, so that the end is that of the process, and not a moment before it opens the terminal.
  const int held = ::open(name.data(), O_RDWR | O_NOCTTY);
  const pid_t process = ::fork();
  if (process == 0) detail::become_program_at(name.data(), columns, arguments);
  ::close(held);
  std::array<char, 4096> buffer;
  ssize_t bytes = 0;
  while ((bytes = ::read(master, buffer.data(), buffer.size())) > 0) {
    result.shown.append(buffer.data(), static_cast<std::size_t>(bytes));
    if (!answer || result.shown.find(question) == std::string::npos) continue;
    const std::string text = answer();
    answer = nullptr;
    if (::write(master, text.data(), text.size()) != static_cast<ssize_t>(text.size())) break;
  }
  ::close(master);
  int status = 0;
  if (process > 0 && ::waitpid(process, &status, 0) == process && WIFEXITED(status))
    result.exit_code = WEXITSTATUS(status);
  return result;
}

}  // namespace varve::test
