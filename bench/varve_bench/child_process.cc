#include "bench/varve_bench/child_process.h"

#include <array>
#include <cerrno>

#include <sys/wait.h>
#include <unistd.h>

namespace varve::bench {

namespace {

constexpr char kAnswer = 'a';
constexpr char kError = 'e';

[[noreturn]] void answer(int pipe, const Result<std::string>& result) {
  const std::string text = result.ok() ? kAnswer + *result : kError + result.status().to_string();
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t written = ::write(pipe, text.data() + sent, text.size() - sent);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);
    sent += static_cast<std::size_t>(written);
  }
  ::_exit(0);
}

std::string read_to_end(int pipe) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t got = ::read(pipe, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::string> in_child_process(const std::function<Result<std::string>()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return Status::io_error("no pipe could be made");
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return Status::io_error("no process could be made");
  }
  if (child == 0) {
    ::close(ends[0]);
    answer(ends[1], work());
  }
  ::close(ends[1]);
  std::string text = read_to_end(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (text.empty() || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Status::io_error(WIFSIGNALED(status) ? "its process was ended by signal " + std::to_string(WTERMSIG(status))
                                                : "its process ended without an answer");
  }
  const bool failed = text.front() == kError;
  text.erase(0, 1);
  if (failed) return Status::io_error(text);
  return text;
}

}  // namespace varve::bench
