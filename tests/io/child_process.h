// Owns: running a part of a test in a fork of the test, where limits, mounts and refused system calls affect only the
// child.
// Must never: let gtest's assertions run in the child. The child answers with a text, and the parent checks it.
#pragma once

#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace varve::io {

namespace child_process {

inline void write_words(int pipe_end, const std::string& words) {
  for (std::size_t done = 0; done < words.size();) {
    const ssize_t written = ::write(pipe_end, words.data() + done, words.size() - done);
    if (written <= 0) ::_exit(3);
    done += static_cast<std::size_t>(written);
  }
}

inline std::string read_words(int pipe_end) {
  std::string words;
  char part[4096];
  for (;;) {
    const ssize_t got = ::read(pipe_end, part, sizeof part);
    if (got <= 0) return words;
    words.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace child_process

/// Returns the result of `body` in a forked child, or how the child died. The child exits by _exit, so no destructor of
/// the parent's objects runs in it.
inline std::string in_child(const std::function<std::string()>& body) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) std::abort();
  // Above 2, because tests close the descriptors 0 to 2.
  const int writing_end = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  const pid_t child = ::fork();
  if (child == 0) {
    child_process::write_words(writing_end, body());
    ::_exit(0);
  }
  ::close(ends[1]);
  ::close(writing_end);
  std::string words = child_process::read_words(ends[0]);
  ::close(ends[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) std::abort();
  if (WIFSIGNALED(status)) return words + "<ended by signal " + std::to_string(WTERMSIG(status)) + ">";
  if (WEXITSTATUS(status) != 0) return words + "<ended with " + std::to_string(WEXITSTATUS(status)) + ">";
  return words;
}

}  // namespace varve::io
