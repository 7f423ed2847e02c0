// Owns: the thread that writes buffered commits within their interval, writes full slots at once, and marks the end of
// an idle log.
// Must never: decide about durability; it asks the commit queue for a flush like any caller.
#pragma once

#include "engine/commit/commit_queue.h"

namespace varve::engine {

class LogTimer {
 public:
  LogTimer(const io::Env& env, CommitQueue& queue) noexcept : env_(env), queue_(queue) {}
  /// Starts the thread. The thread ends after the queue is closed; the destructor waits for that.
  Status start();

 private:
  void run() noexcept;

  const io::Env& env_;
  CommitQueue& queue_;
  io::Thread thread_;
};

}  // namespace varve::engine
