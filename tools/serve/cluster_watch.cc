// Owns: the looks at the figures of the cluster (cluster_watch.h).
// Must never: ask for figures after expect_exit() has returned.
#include "tools/serve/cluster_watch.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "tools/serve/watch/store_health.h"

namespace varve::serve {

namespace {

constexpr std::chrono::milliseconds kLookEvery{500};

}  // namespace

bool EndPatience::is_over(Time now, std::chrono::nanoseconds longest_wait, bool hurries) {
  if (hurries && !hurried_at_) hurried_at_ = now;
  if (longest_wait >= kWait) return true;
  return hurried_at_ && now - *hurried_at_ >= kHurriedWait && longest_wait >= kHurriedWait;
}

Result<std::unique_ptr<ClusterWatch>> ClusterWatch::start(Hooks hooks) {
  try {
    auto watch = std::make_unique<ClusterWatch>(std::move(hooks));
    watch->thread_ = std::thread([raw = watch.get()] { raw->run(); });
    return watch;
  } catch (const std::system_error&) {
    return Status(Code::kOutOfMemory, "the system cannot start another thread; raise `ulimit -u`");
  }
}

ClusterWatch::~ClusterWatch() {
  {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::kOver;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void ClusterWatch::expect_end(std::function<bool()> hurries) {
  const std::lock_guard lock(mutex_);
  phase_ = Phase::kEnding;
  hurries_ = std::move(hurries);
}

void ClusterWatch::expect_exit() {
  std::unique_lock lock(mutex_);
  phase_ = Phase::kExiting;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !is_looking_; });
}

void ClusterWatch::run() {
  std::unique_lock lock(mutex_);
  while (phase_ < Phase::kExiting) {
    is_looking_ = true;
    lock.unlock();
    const bool is_over = look();
    lock.lock();
    is_looking_ = false;
    changed_.notify_all();
    if (is_over) return hooks_.give_up();
    changed_.wait_for(lock, kLookEvery, [this] { return phase_ >= Phase::kExiting; });
  }
  const bool is_over = changed_.wait_for(lock, EndPatience::kHurriedWait, [this] { return phase_ == Phase::kOver; });
  if (is_over) return;
  hooks_.log("the cluster does not answer at the end of the process; its next owner waits for the lease to lapse");
  hooks_.give_up();
}

bool ClusterWatch::look() try {
  const Result<RadosFigures> figures = hooks_.figures();
  if (!figures.ok()) return false;
  note(*figures);
  bool hurries = false;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kEnding) return false;
    hurries = hurries_();
  }
  const std::chrono::nanoseconds wait = std::max(figures->changes.longest_wait, figures->reads.longest_wait);
  if (!patience_.is_over(std::chrono::steady_clock::now(), wait, hurries)) return false;
  hooks_.log("the cluster has not answered for " +
             std::to_string(std::chrono::duration_cast<std::chrono::seconds>(wait).count()) +
             " s, so the server ends without it; all acknowledged durable writes are safe");
  return true;
} catch (const std::bad_alloc&) {
  return false;  // The next look may have memory.
}

/// Logs when the cluster stops answering, and when it answers again.
void ClusterWatch::note(const RadosFigures& figures) {
  const StoreHealth health = health_of(figures);
  const std::string state = health.accepts_writes ? std::string() : std::string(health.state);
  if (state == trouble_) return;
  const auto now = std::chrono::steady_clock::now();
  if (state.empty()) {
    hooks_.log("the cluster answers again after " +
               std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - trouble_since_).count()) + " s");
  } else {
    hooks_.log("the store on the cluster is " + state + ": " + health.reason);
    trouble_since_ = now;
  }
  trouble_ = state;
}

}  // namespace varve::serve
