#include "tools/serve/transport/stop_signals.h"

#include <array>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "tools/serve/transport/log.h"

namespace varve::serve {
namespace {

constexpr std::array kAwaited = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
constexpr std::array kIgnored = {SIGPIPE, SIGXFSZ, SIGTTOU};

void do_nothing(int /*signal*/) {}

void set_action(int signal, void (*action)(int)) {
  struct sigaction wanted {};
  wanted.sa_handler = action;
  wanted.sa_flags = SA_RESTART;
  ::sigemptyset(&wanted.sa_mask);
  ::sigaction(signal, &wanted, nullptr);
}

std::string name_of(int signal) {
  switch (signal) {
    case SIGTERM: return "SIGTERM";
    case SIGINT: return "SIGINT";
    case SIGHUP: return "SIGHUP";
    case SIGUSR1: return "SIGUSR1";
    default: return "SIGUSR2";
  }
}

/// Ends the process with the signal's default action. Runs on the thread that took the signal, since every other thread
/// blocks it.
void end_as_ever(int signal, const sigset_t& awaited) {
  set_action(signal, SIG_DFL);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
}

}  // namespace

/// Never destroyed: its thread takes signals until the process ends.
struct StopSignals::State {
  void run() {
    for (;;) {
      int signal = 0;
      if (::sigwait(&awaited, &signal) != 0) continue;
      take(signal);
    }
  }
  void take(int signal) {
    if (signal == SIGUSR1 || signal == SIGUSR2) return log_line(name_of(signal) + " was ignored: it has no meaning");
    const std::lock_guard lock(mutex);
    if (signal == SIGHUP) {
      if (has_come) return log_line("SIGHUP was ignored: the server is already stopping");
      wants_reload = true;
      return came.notify_all();
    }
    if (!is_expected) return end_as_ever(signal, awaited);
    if (has_come) log_line(name_of(signal) + " came again: the server waits no longer than 3 seconds for its requests");
    is_impatient = has_come;
    has_come = true;
    came.notify_all();
  }

  sigset_t awaited{};
  std::mutex mutex;
  std::condition_variable came;
  bool is_expected = false;
  bool has_come = false;
  bool wants_reload = false;
  bool is_impatient = false;
};

StopSignals::StopSignals() : state_(std::make_shared<State>()) {}

Status StopSignals::begin() {
  ::sigemptyset(&state_->awaited);
  for (const int signal : kIgnored) set_action(signal, SIG_IGN);
  for (const int signal : kAwaited) {
    // An ignored signal cannot be waited for. A shell ignores signals of background processes, for example.
    set_action(signal, do_nothing);
    ::sigaddset(&state_->awaited, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &state_->awaited, nullptr);
  try {
    std::thread([state = state_] { state->run(); }).detach();
  } catch (const std::system_error&) {
    return Status(Code::kOutOfMemory, "the system cannot start a thread that waits for signals; raise `ulimit -u`");
  }
  return Status();
}

void StopSignals::expect() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->is_expected = true;
}

bool StopSignals::wait_for_reload() {
  std::unique_lock lock(state_->mutex);
  state_->came.wait(lock, [this] { return state_->has_come || state_->wants_reload; });
  if (state_->has_come) return false;
  state_->wants_reload = false;
  return true;
}

void StopSignals::request_end() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->has_come = true;
  state_->came.notify_all();
}

bool StopSignals::is_impatient() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->is_impatient;
}

}  // namespace varve::serve
