// Owns: the occupation of all threads of a store's calls, so that a test decides which call begins when.
// Must never: outlive its store.
#pragma once

#include <atomic>
#include <semaphore>

#include "varve/async.h"
#include "varve/store.h"

namespace varve::serve::test {

/// Occupies all threads. Calls that are begun meanwhile wait in line.
class HeldCalls {
 public:
  explicit HeldCalls(Store& store) {
    for (int i = 0; i < kThreads; ++i) {
      start(AsyncStore(store).run([this](Store&) {
        ++running_;
        gate_.acquire();
        return Status();
      }),
            [this](const Status&) { ++ended_; });
    }
    while (running_ < kThreads) {
    }
  }
  ~HeldCalls() {
    let_all_go();
    while (ended_ < kThreads) {
    }
  }
  HeldCalls(const HeldCalls&) = delete;
  HeldCalls& operator=(const HeldCalls&) = delete;

  /// Lets one thread go, which begins the first call in the line.
  void let_one_go() {
    --held_;
    gate_.release();
  }
  void let_all_go() {
    while (held_ > 0) let_one_go();
  }

 private:
  static constexpr int kThreads = 64;
  std::counting_semaphore<kThreads> gate_{0};
  std::atomic<int> running_{0};
  std::atomic<int> ended_{0};
  int held_ = kThreads;
};

}  // namespace varve::serve::test
