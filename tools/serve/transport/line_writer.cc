#include "tools/serve/transport/line_writer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace varve::serve {
namespace {

constexpr std::size_t kBytesWaitingMax = std::size_t{2} << 20;
/// The overhead of each queued line, in bytes.
constexpr std::size_t kLineBytes = 64;
/// The interval at which the writer checks whether it should end. The times below limit how long the end waits without
/// progress.
constexpr std::chrono::milliseconds kLookTime{50};
constexpr std::chrono::milliseconds kStuckTime{200};
constexpr std::chrono::milliseconds kEndTime{600};

}  // namespace

/// Outlives the writer if its thread is stuck in a write.
struct LineWriter::State {
  explicit State(int to) noexcept : descriptor(to) {}

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return !lines.empty() || is_ending; });
      if (lines.empty() || gives_up) break;
      const std::string line = std::move(lines.front());
      lines.pop_front();
      bytes -= line.size() + kLineBytes;
      lock.unlock();
      const bool is_written = put(line);
      lock.lock();
      ++steps;
      if (!is_written) ++lost;
      moved.notify_all();
    }
    has_ended = true;
    moved.notify_all();
  }

  /// Writes a line. A writable pipe accepts this number of bytes without blocking.
  bool put(const std::string& line) {
    std::size_t done = 0;
    while (done < line.size()) {
      pollfd waiting{descriptor, POLLOUT, 0};
      const int ready = ::poll(&waiting, 1, static_cast<int>(kLookTime.count()));
      if (ready < 0 && errno != EINTR) return false;
      if (gives_up) return false;
      if (ready <= 0) continue;
      const ssize_t count =
          ::write(descriptor, line.data() + done, std::min<std::size_t>(line.size() - done, PIPE_BUF));
      if (count < 0 && errno != EINTR && errno != EAGAIN) return false;
      if (count > 0) done += static_cast<std::size_t>(count);
      if (count > 0) ++steps;
    }
    return true;
  }

  const int descriptor;
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable moved;
  std::deque<std::string> lines;
  std::size_t bytes = 0;
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<bool> gives_up{false};
  bool is_ending = false;
  bool has_ended = true;
};

LineWriter::LineWriter(int descriptor) : state_(std::make_shared<State>(descriptor)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);  // Other threads handle signals.
  try {
    state_->has_ended = false;
    std::thread([state = state_] { state->run(); }).detach();
  } catch (const std::system_error&) {
    state_->has_ended = true;  // Every line is lost in this case.
    state_->is_ending = true;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LineWriter::~LineWriter() {
  finish();
}

void LineWriter::write(std::string_view text) noexcept {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.is_ending) {
    ++state.lost;
    return;
  }
  try {
    state.lines.emplace_back(text);
  } catch (const std::bad_alloc&) {
    ++state.lost;
    return;
  }
  state.bytes += text.size() + kLineBytes;
  while (state.bytes > kBytesWaitingMax) {
    state.bytes -= state.lines.front().size() + kLineBytes;
    state.lines.pop_front();
    ++state.lost;
  }
  state.changed.notify_one();
}

void LineWriter::finish() noexcept {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.is_ending = true;
  state.changed.notify_one();
  const auto deadline = std::chrono::steady_clock::now() + kEndTime;
  for (std::uint64_t seen = state.steps; !state.has_ended; seen = state.steps) {
    if (std::chrono::steady_clock::now() >= deadline) break;
    const bool went_on = state.moved.wait_for(lock, kStuckTime, [&] { return state.has_ended || state.steps != seen; });
    if (!went_on) break;
  }
  state.gives_up = true;
  state.lost += state.lines.size();
  state.lines.clear();
  state.bytes = 0;
  // The line that is being written counts too, unless the thread is stuck in its write.
  state.moved.wait_for(lock, kStuckTime, [&] { return state.has_ended; });
}

std::uint64_t LineWriter::lost() const noexcept {
  return state_->lost;
}

}  // namespace varve::serve
