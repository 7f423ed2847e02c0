// Owns: the numbers that wait for a thread, and the results that wait to be reported (side_by_side.h).
// Must never: keep a helper working after `report` has thrown.
#include "engine/base/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace varve::engine {

namespace {

class SideBySide {
 public:
  SideBySide(io::Scheduler& scheduler, std::size_t count, const std::function<Status(std::size_t)>& work)
      : mutex_(scheduler), count_(count), work_(work), results_(count) {}

  /// Does the next work. Returns false if none is left. Any thread may call it.
  bool do_next() noexcept {
    const std::size_t at = next_.fetch_add(1, std::memory_order_relaxed);
    if (at >= count_) return false;
    Status done = attempt(at);
    const io::MutexGuard guard(mutex_);
    results_[at] = std::move(done);
    return true;
  }
  Status attempt(std::size_t at) const noexcept {
    try {
      return work_(at);
    } catch (const std::bad_alloc&) {
      return Status::out_of_memory();
    }
  }
  std::optional<Status> result(std::size_t at) {
    const io::MutexGuard guard(mutex_);
    return results_[at];
  }
  void stop() noexcept { next_.store(count_, std::memory_order_relaxed); }

 private:
  io::Mutex mutex_;
  const std::size_t count_;
  const std::function<Status(std::size_t)>& work_;
  std::atomic<std::size_t> next_{0};
  std::vector<std::optional<Status>> results_ VARVE_GUARDED_BY(mutex_);
};

/// The helpers. However the caller leaves, they end first.
class Helpers {
 public:
  Helpers(io::Scheduler& scheduler, SideBySide& all, std::size_t count) : all_(all) {
    threads_.reserve(count);
    while (threads_.size() < count) {
      Result<io::Thread> thread = scheduler.start("varve-check", [&all] {
        while (all.do_next()) continue;
      });
      if (!thread.ok()) return;
      threads_.push_back(*std::move(thread));
    }
  }
  ~Helpers() {
    all_.stop();
    join();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  void join() noexcept { threads_.clear(); }

 private:
  SideBySide& all_;
  std::vector<io::Thread> threads_;
};

bool may_have_lacked_room(const Status& status) noexcept {
  return status.code() == Code::kTooManyFiles || status.code() == Code::kOutOfMemory;
}

}  // namespace

void do_side_by_side(io::Scheduler& scheduler, std::size_t count, const std::function<Status(std::size_t)>& work,
                     const std::function<void(std::size_t, const Status&)>& report) {
  SideBySide all(scheduler, count, work);
  Helpers helpers(scheduler, all, std::min(std::max<std::size_t>(count, 1) - 1, kSideHelpersMax));
  std::size_t reported = 0;
  const auto report_next = [&](Status status) {
    if (may_have_lacked_room(status)) {
      helpers.join();
      status = all.attempt(reported);
    }
    report(reported++, status);
  };
  while (all.do_next()) {
    for (std::optional<Status> next = all.result(reported); next;) {
      report_next(*std::move(next));
      next = reported < count ? all.result(reported) : std::nullopt;
    }
  }
  helpers.join();
  while (reported < count) report_next(*all.result(reported));
}

}  // namespace varve::engine
