// Owns: running the program varve like a user: arguments and standard input in; output, errors and exit code out.
// Must never: leave a process or a file.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/io/temporary_directory.h"

namespace varve::test {

struct ProgramResult {
  int exit_code = -1;  // 128 and the signal's number if a signal ended it
  std::string out;
  std::string err;
};

struct ProgramLimits {
  std::optional<std::uint64_t> file_bytes_max{};  // simulates a full device: writes beyond it fail
  bool closed_output = false;                     // started without a standard output
  bool gone_reader = false;                       // with a standard output without a reader
  bool full_output = false;                       // on a full device
  std::string columns{};                          // the width of a table
  std::optional<int> input_descriptor{};          // standard input, instead of a text
};

/// A directory of its own, removed at the end.
class ScratchDirectory {
 public:
  std::string path(const std::string& name) const { return directory_.path_of(name); }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  const io::TemporaryDirectory directory_;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A running program. finish() must be called once.
class RunningProgram {
 public:
  explicit RunningProgram(const std::vector<std::string>& arguments, const std::string& input = "",
                          const ProgramLimits& limits = {}) {
    scratch_.file("in", input);
    process_ = ::fork();
    if (process_ == 0) become_program(arguments, limits);
  }
  pid_t process() const noexcept { return process_; }

  ProgramResult finish() {
    int status = 0;
    if (process_ < 0 || ::waitpid(process_, &status, 0) != process_) return {};
    ProgramResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = content_of(scratch_.path("out"));
    result.err = content_of(scratch_.path("err"));
    return result;
  }

 private:
  void connect(int descriptor, const char* name, int flags) const {
    const int file = ::open(scratch_.path(name).c_str(), flags | O_CREAT, 0600);
    if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
    if (file != descriptor) ::close(file);
  }

  static void lose_reader() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0) ::_exit(126);
    ::close(ends[0]);
  }

  /// Called in the child. Does not return.
  [[noreturn]] void become_program(const std::vector<std::string>& arguments, const ProgramLimits& limits) const {
    if (limits.input_descriptor) {
      if (::dup2(*limits.input_descriptor, STDIN_FILENO) < 0) ::_exit(126);
    } else {
      connect(STDIN_FILENO, "in", O_RDONLY);
    }
    connect(STDOUT_FILENO, "out", O_WRONLY);
    connect(STDERR_FILENO, "err", O_WRONLY);
    if (limits.closed_output) ::close(STDOUT_FILENO);
    if (limits.gone_reader) lose_reader();
    if (limits.full_output && ::dup2(::open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) < 0) ::_exit(126);
    if (limits.file_bytes_max) {
      const rlimit limit{*limits.file_bytes_max, *limits.file_bytes_max};
      std::signal(SIGXFSZ, SIG_IGN);
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(126);
    }
    if (!limits.columns.empty()) ::setenv("COLUMNS", limits.columns.c_str(), 1);
    std::vector<std::string> words{VARVE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(VARVE_PROGRAM, pointers.data());
    ::_exit(127);
  }

  ScratchDirectory scratch_;
  pid_t process_ = -1;
};

inline ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& input = "",
                                 const ProgramLimits& limits = {}) {
  return RunningProgram(arguments, input, limits).finish();
}

/// Returns how often the word occurs in the text.
inline std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace varve::test
