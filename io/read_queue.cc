// Owns: the refusals that all read queues share, with their messages.
// Must never: know how a queue reads.
#include "io/read_queue.h"

namespace varve::io {

Status check_read_depth(std::size_t depth) noexcept {
  if (depth > 0 && depth <= kReadDepthMax) return Status();
  return Status::invalid_argument("the depth of a read queue must be 1 to 1024");
}

Status read_queue_full() noexcept {
  return Status(Code::kBusy, "the read queue is full; reap some reads first");
}

}  // namespace varve::io
