#include "tests/lab/isolated/isolated.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace varve::lab {

namespace {

constexpr std::size_t kDeathsMax = 20;
constexpr std::size_t kTextBytes = 4000;

struct SharedFailure {
  std::size_t index;
  char what[200];
  char detail[kTextBytes];
};

/// The progress of the child, in shared memory.
struct Shared {
  std::atomic<std::size_t> next;
  std::atomic<std::size_t> failure_count;
  SharedFailure failures[kFailuresKept];
};

void copy_text(char* to, std::size_t room, const std::string& text) {
  const std::size_t bytes = std::min(room - 1, text.size());
  std::memcpy(to, text.data(), bytes);
  to[bytes] = '\0';
}

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t count) : bytes_(sizeof(Shared) + count) {
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("mmap");
      std::abort();
    }
    shared_ = new (memory) Shared{};
    codes_ = static_cast<std::uint8_t*>(memory) + sizeof(Shared);
    std::memset(codes_, kCrashedCode, count);
  }
  ~SharedMemory() { ::munmap(shared_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  Shared& shared() noexcept { return *shared_; }
  std::uint8_t* codes() noexcept { return codes_; }

  void add_failure(std::size_t index, const std::string& what, const std::string& detail) {
    const std::size_t place = shared_->failure_count.fetch_add(1);
    if (place >= kFailuresKept) return;
    shared_->failures[place].index = index;
    copy_text(shared_->failures[place].what, sizeof shared_->failures[place].what, what);
    copy_text(shared_->failures[place].detail, sizeof shared_->failures[place].detail, detail);
  }

 private:
  std::size_t bytes_;
  Shared* shared_;
  std::uint8_t* codes_;
};

[[noreturn]] void run_child(SharedMemory& memory, std::size_t count, unsigned seconds_max,
                            const std::function<CaseResult(std::size_t)>& run) {
  std::signal(SIGALRM, SIG_DFL);
  for (std::size_t index = memory.shared().next; index < count; ++index) {
    memory.shared().next = index;
    ::alarm(seconds_max);
    const CaseResult result = run(index);
    memory.codes()[index] = result.code;
    if (!result.what.empty()) memory.add_failure(index, result.what, result.detail);
  }
  memory.shared().next = count;
  ::_exit(0);
}

/// Returns how the child ended, or an empty text if it had done everything.
std::string end_of_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "the case hangs";
  if (WIFSIGNALED(status)) return "the case crashes: signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "the case ends the process: status " + std::to_string(WEXITSTATUS(status));
  return std::string();
}

}  // namespace

IsolatedRun run_isolated(std::size_t count, unsigned seconds_max, const std::function<CaseResult(std::size_t)>& run) {
  SharedMemory memory(count);
  Shared& shared = memory.shared();
  for (std::size_t deaths = 0; shared.next < count && deaths < kDeathsMax;) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) run_child(memory, count, seconds_max, run);
    if (child < 0) {
      memory.add_failure(shared.next, "fork failed", std::strerror(errno));
      break;
    }
    const std::string end = end_of_child(child);
    if (end.empty()) continue;
    ++deaths;
    memory.add_failure(shared.next, end, std::string());
    shared.next = shared.next + 1;
  }
  IsolatedRun result;
  result.codes.assign(memory.codes(), memory.codes() + count);
  result.failure_count = shared.failure_count;
  for (std::size_t i = 0; i < std::min(result.failure_count, kFailuresKept); ++i) {
    result.failures.push_back({shared.failures[i].index, shared.failures[i].what, shared.failures[i].detail});
  }
  return result;
}

}  // namespace varve::lab
