// Owns: starting children, ending them, and saying how they ended; the machine that a child opens a store on.
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

/// Asked in a child, since asking may start threads. Without it the ring's file system falls back by itself, which is
/// then what is tested.
bool ring_is_there();

/// The real machine, behind a file system that kills. In a child alone.
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

/// Runs `body` in a fork, which ends with what it returns. -1: no fork.
pid_t start_child(const std::function<int()>& body);

/// How a child ended.
struct ChildEnd {
  bool killed = false;  // by SIGKILL
  int status = 0;       // else
  std::string text;     // for people, where it was neither SIGKILL nor zero
};
/// Waits. A child that takes minutes ends itself, and its end says that it hung.
ChildEnd wait_for(pid_t child);
/// Kills it after so many microseconds, and waits.
ChildEnd kill_after(pid_t child, std::uint64_t microseconds);
/// For what happens by time alone; nothing is proved by it having passed.
void pause_for(std::uint64_t microseconds);

}  // namespace varve::lab
