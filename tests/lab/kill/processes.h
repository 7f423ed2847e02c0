// Owns: starting and ending child processes, describing how they ended, and the machine on which a child opens a store.
// Must never: be used while other threads of this process run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <sys/types.h>

#include "io/env.h"
#include "tests/lab/kill/killing_file_system.h"

namespace varve::lab {

enum class BackEnd : std::uint8_t { kPosix, kUring };

/// Returns whether io_uring is available. Called in a child, because it may start threads. If the ring is not
/// available, its file system uses threads instead, and the test covers that.
bool ring_is_there();

/// The real machine with a file system that kills. Used only in a child.
class RealMachine {
 public:
  RealMachine(BackEnd back_end, std::uint64_t kill_at);
  const io::Env& env() const noexcept { return env_; }
  std::uint64_t steps_taken() const noexcept { return count_.steps_taken(); }

 private:
  KillCount count_;
  std::unique_ptr<io::FileSystem> files_;
  KillingFileSystem killing_;
  io::Env env_;
};

/// Runs `body` in a fork, which exits with its result. Returns -1 if the fork failed.
pid_t start_child(const std::function<int()>& body);

/// The end of a child.
struct ChildEnd {
  bool killed = false;  // whether SIGKILL ended it
  int status = 0;       // otherwise its exit status
  std::string text;     // a description, if it was neither SIGKILL nor zero
};
/// Waits for a child. A child that takes minutes ends itself, and its end reports a hang.
ChildEnd wait_for(pid_t child);
/// Kills a child after the given microseconds, and waits for it.
ChildEnd kill_after(pid_t child, std::uint64_t microseconds);
/// Pauses for events that depend only on time. The pause itself proves nothing.
void pause_for(std::uint64_t microseconds);

}  // namespace varve::lab
