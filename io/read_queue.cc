// Owns: the refusals that all read queues share, with their messages.
// Must never: know how a queue reads.
#include "io/read_queue.h"

namespace varve::io {

Status check_read_depth(std::size_t depth) noexcept {
  if (depth > 0 && depth <= kReadDepthMax) return Status();
  return Status::invalid_argument("a queue is for 1 to 1024 reads at once");
}

Status read_queue_full() noexcept {
  return Status(Code::kBusy, "the queue has as many reads in flight as its depth allows; reap some first");
}

}  // namespace varve::io
