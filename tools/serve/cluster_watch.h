// Owns: what a server says in its log of a cluster that does not answer, and the bound of an end that waits for one.
// Must never: end a process whose cluster answers, or wait for the cluster itself.
//
// A write to a cluster has no bound in time. So a server that ends while its cluster is away would wait for it without
// end. Everything that it acknowledged is safe, and its successor waits for its lease alone. So it may simply end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "varve/rados.h"
#include "varve/result.h"

namespace varve::serve {

/// Decides when a process that ends waits no longer for its cluster.
class EndPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// The longest wait of an end, and of one that was asked for a second time.
  static constexpr std::chrono::seconds kWait{60};
  static constexpr std::chrono::seconds kHurriedWait{5};

  /// `longest_wait` is that of the operations on the cluster.
  bool is_over(Time now, std::chrono::nanoseconds longest_wait, bool hurries);

 private:
  std::optional<Time> hurried_at_;
};

class ClusterWatch {
 public:
  /// All of them are called on a thread of the watch.
  struct Hooks {
    std::function<Result<RadosFigures>()> figures;
    std::function<void(const std::string& line)> log;
    /// Ends the process at once.
    std::function<void()> give_up;
  };
  /// Errors: kOutOfMemory.
  static Result<std::unique_ptr<ClusterWatch>> start(Hooks hooks);
  /// Only start() calls it.
  explicit ClusterWatch(Hooks hooks) : hooks_(std::move(hooks)) {}
  /// Waits for the thread.
  ~ClusterWatch();
  ClusterWatch(const ClusterWatch&) = delete;
  ClusterWatch& operator=(const ClusterWatch&) = delete;

  /// From now on, the process ends, and its wait for the cluster is bounded. `hurries` returns whether the end was asked
  /// for a second time.
  void expect_end(std::function<bool()> hurries);
  /// From now on, the figures are not asked any more, and only the connection is left to be closed: the process ends after
  /// kHurriedWait, unless this object does before.
  void expect_exit();

 private:
  enum class Phase { kServing, kEnding, kExiting, kOver };

  void run();
  /// Returns whether the wait is over.
  bool look();
  void note(const RadosFigures& figures);

  const Hooks hooks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::kServing;    // guarded by mutex_
  std::function<bool()> hurries_;    // guarded by mutex_
  bool is_looking_ = false;          // guarded by mutex_
  EndPatience patience_;             // of the thread
  std::string trouble_;              // of the thread: the state that the log has last
  EndPatience::Time trouble_since_;  // of the thread
  std::thread thread_;
};

}  // namespace varve::serve
