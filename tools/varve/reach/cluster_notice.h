// Owns: a word to the user while the cluster of a store keeps a verb waiting.
// Must never: ask the cluster anything, or say it twice.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "varve/rados.h"

namespace varve::tool {

/// Looks in the background how long the cluster has not answered, and prints a hint once after five seconds.
class ClusterNotice {
 public:
  /// The connection is being opened from now on. Without a thread, nothing is ever printed.
  ClusterNotice();
  ~ClusterNotice();
  ClusterNotice(const ClusterNotice&) = delete;
  ClusterNotice& operator=(const ClusterNotice&) = delete;

  /// From now on, the operations of this connection count. Null: the connection ends from now on.
  void watch(const RadosConnection* connection);

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  /// Returns whether the hint was printed.
  bool look() const;

  std::mutex mutex_;
  std::condition_variable ending_;
  bool is_ending_ = false;
  const RadosConnection* connection_ = nullptr;
  Clock::time_point begun_ = Clock::now();  // of the opening, the watch or the end
  std::thread thread_;
};

}  // namespace varve::tool
