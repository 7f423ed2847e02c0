// Owns: the loops that run connections, and their threads.
// Must never: know what runs on them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "tools/serve/transport/loop_load.h"
#include "varve/result.h"

namespace varve::serve {

/// The contexts of connections, each run by its own thread. The handlers of one connection thus run one after the
/// other, without a strand. A strand would allocate memory for each handler, at a point where a failure cannot be
/// reported.
class Loops {
 public:
  explicit Loops(unsigned count) {
    for (unsigned i = 0; i < count; ++i) loops_.push_back(std::make_unique<Loop>());
    balance_.emplace(all());
  }
  /// Returns the first context, which runs the listeners too.
  boost::asio::io_context& first() noexcept { return loops_.front()->context; }
  std::vector<boost::asio::io_context*> all() const {
    std::vector<boost::asio::io_context*> contexts;
    for (const auto& loop : loops_) contexts.push_back(&loop->context);
    return contexts;
  }
  /// Returns the context of the next connection: the one with the fewest.
  boost::asio::io_context& next() noexcept { return balance_->least_loaded(); }
  /// Decides which connections move to another context later.
  LoopBalance& balance() noexcept { return *balance_; }

  /// Starts the threads. The first thread calls `after_failure` after a handler was lost for lack of memory.
  /// `after_failure` may throw std::bad_alloc. Errors: kOutOfMemory: the machine has no more threads. The caller still
  /// calls finish().
  Status start(const std::function<void()>& after_failure) {
    try {
      for (const auto& loop : loops_) {
        loop->thread =
            std::thread([this, &context = loop->context, after = loop == loops_.front() ? after_failure : nullptr] {
              balance_->runs_here(context);
              run(context, after);
            });
      }
    } catch (const std::system_error&) {
      return Status(Code::kOutOfMemory, "the system cannot start another thread; raise `ulimit -u`");
    }
    return Status();
  }
  void finish() {
    for (const auto& loop : loops_) loop->work.reset();
    for (const auto& loop : loops_) {
      if (loop->thread.joinable()) loop->thread.join();
    }
  }

 private:
  struct Loop {
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work =
        boost::asio::make_work_guard(context);
    std::thread thread;
  };

  /// Runs a context. If memory ends in a handler, the objects that it kept alive, such as a connection, are destroyed
  /// before the exception arrives here.
  static void run(boost::asio::io_context& context, const std::function<void()>& after_failure) {
    bool has_failed = false;
    for (;;) {
      try {
        if (std::exchange(has_failed, false) && after_failure) after_failure();
        context.run();
        return;
      } catch (const std::bad_alloc&) {
        has_failed = true;
        std::this_thread::sleep_for(kMemoryPause);
      }
    }
  }

  /// The pause after a handler ran out of memory.
  static constexpr std::chrono::milliseconds kMemoryPause{1};

  std::vector<std::unique_ptr<Loop>> loops_;
  std::optional<LoopBalance> balance_;
};

}  // namespace varve::serve
