// Owns: the questions to the monitors (pool_watch.h).
// Must never: ask them under its mutex.
#include "io/rados/pool_watch.h"

#include <new>
#include <string>
#include <utility>

#include "io/parents_object.h"
#include "io/rados/rados_names.h"

namespace varve::io {

PoolWatch::~PoolWatch() {
  if (!owner_.is_this_process()) {
    leave_to_parent(thread_);
    return;
  }
  {
    const MutexGuard guard(mutex_);
    is_ending_ = true;
    ending_.notify_all();
  }
  thread_.reset();
}

Status PoolWatch::start() {
  const MutexGuard guard(mutex_);
  if (thread_ != nullptr || !owner_.is_this_process()) return Status();
  auto kept = std::make_unique<Thread>();  // Nothing may fail once the thread runs.
  Result<Thread> thread = scheduler_.start("varve-pool", [this] { run(); });
  if (!thread.ok()) return thread.status();
  *kept = *std::move(thread);
  thread_ = std::move(kept);
  return Status();
}

void PoolWatch::run() noexcept {
  for (;;) {
    try {
      look();
    } catch (const std::bad_alloc&) {
      // The next question may have memory.
    }
    const MutexGuard guard(mutex_);
    if (!is_ending_) (void)ending_.wait_for(mutex_, kEvery);
    if (is_ending_) return;
  }
}

void PoolWatch::look() {
  std::string object = door_.changes().longest_object;
  if (object.empty()) object = door_.reads().longest_object;
  if (object.empty()) object = lease_object(process_.id());
  PoolLook found;
  const ObjectAnswer answer = door_.look_at_pool(object, found);
  const MutexGuard guard(mutex_);
  seen_ = answer == 0 ? std::optional<PoolLook>(found) : std::nullopt;
}

std::optional<PoolLook> PoolWatch::seen() const {
  const MutexGuard guard(mutex_);
  return seen_;
}

}  // namespace varve::io
