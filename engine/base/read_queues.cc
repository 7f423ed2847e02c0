// Owns: the list of idle queues (read_queues.h).
#include "engine/base/read_queues.h"

#include <cassert>
#include <utility>

namespace varve::engine {

Result<std::unique_ptr<io::ReadQueue>> ReadQueues::take() {
  {
    const io::MutexGuard guard(mutex_);
    idle_.reserve(kKept);
    if (!idle_.empty()) {
      std::unique_ptr<io::ReadQueue> queue = std::move(idle_.back());
      idle_.pop_back();
      return queue;
    }
  }
  return env_.files.make_read_queue(env_.scheduler, kReadsInFlightMax);
}

void ReadQueues::give_back(std::unique_ptr<io::ReadQueue> queue) noexcept {
  assert(queue->in_flight() == 0);
  const io::MutexGuard guard(mutex_);
  if (idle_.size() < idle_.capacity() && idle_.size() < kKept) idle_.push_back(std::move(queue));
}

}  // namespace varve::engine
