#include "tests/lab/kill/processes.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <sys/wait.h>
#include <unistd.h>

#include "io/posix/posix_file_system.h"
#include "io/uring/ring.h"
#include "io/uring/uring_file_system.h"

namespace varve::lab {

namespace {

constexpr unsigned kSecondsMax = 120;

std::unique_ptr<io::FileSystem> make_files(BackEnd back_end) {
  if (back_end == BackEnd::kUring) return std::make_unique<io::UringFileSystem>();
  return std::make_unique<io::PosixFileSystem>();
}

}  // namespace

bool ring_is_there() {
  const pid_t child = start_child([] { return io::probe_io_uring().ok() ? 0 : 1; });
  return wait_for(child).text.empty();
}

RealMachine::RealMachine(BackEnd back_end, std::uint64_t kill_at)
    : count_(kill_at),
      files_(make_files(back_end)),
      killing_(*files_, count_),
      env_{killing_, io::system_env().clock, io::system_env().random, io::system_env().scheduler} {}

pid_t start_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(kSecondsMax);
  ::_exit(body());
}

ChildEnd wait_for(pid_t child) {
  ChildEnd end;
  if (child < 0) {
    end.status = -1;
    end.text = "fork failed";
    return end;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    end.killed = true;
  } else if (WIFSIGNALED(status)) {
    end.status = 128 + WTERMSIG(status);
    end.text = WTERMSIG(status) == SIGALRM ? "it hung" : "it crashed: signal " + std::to_string(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    end.status = WEXITSTATUS(status);
    end.text = "it ended with " + std::to_string(end.status);
  }
  return end;
}

void pause_for(std::uint64_t microseconds) {
  timespec pause{};
  pause.tv_sec = static_cast<time_t>(microseconds / 1'000'000);
  pause.tv_nsec = static_cast<long>(microseconds % 1'000'000 * 1000);
  ::nanosleep(&pause, nullptr);
}

ChildEnd kill_after(pid_t child, std::uint64_t microseconds) {
  pause_for(microseconds);
  if (child > 0) ::kill(child, SIGKILL);
  return wait_for(child);
}

}  // namespace varve::lab
