#include "bench/varve_bench/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <sys/prctl.h>
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

struct Ended {
  std::string text;  // the output of the child
  int status = 0;    // as waitpid() returns it
};

/// Runs a child. `work` gets the writable end of the pipe.
Result<Ended> run_child(const std::function<void(int pipe)>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return Status::io_error("no pipe could be made");
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return Status::io_error("no process could be made");
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the race is killed, no contender keeps running
    ::close(ends[0]);
    work(ends[1]);
    ::_exit(1);
  }
  ::close(ends[1]);
  Ended ended;
  ended.text = read_to_end(ends[0]);
  ::close(ends[0]);
  while (::waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

}  // namespace

Result<std::string> in_child_process(const std::function<Result<std::string>()>& work) {
  Result<Ended> ended = run_child([&](int pipe) { answer(pipe, work()); });
  if (!ended.ok()) return ended.status();
  std::string& text = ended->text;
  if (text.empty() || !WIFEXITED(ended->status) || WEXITSTATUS(ended->status) != 0) {
    return Status::io_error(WIFSIGNALED(ended->status)
                                ? "its process was ended by signal " + std::to_string(WTERMSIG(ended->status))
                                : "its process ended without an answer");
  }
  const bool failed = text.front() == kError;
  text.erase(0, 1);
  if (failed) return Status::io_error(text);
  return std::move(text);
}

Status in_killed_process(const std::function<Status()>& work) {
  const Result<Ended> ended = run_child([&](int pipe) {
    if (Status done = work(); !done.ok()) answer(pipe, done);
    static_cast<void>(::raise(SIGKILL));
  });
  if (!ended.ok()) return ended.status();
  if (WIFSIGNALED(ended->status) && WTERMSIG(ended->status) == SIGKILL) return Status();
  return Status::io_error(ended->text.empty() ? "its process ended without an answer" : ended->text.substr(1));
}

}  // namespace varve::bench
