// Owns: the choice between a ring and threads.
// Must never: refuse a queue because a ring was refused.
#include "io/uring/uring_file_system.h"

#include "io/probe.h"
#include "io/uring/uring_read_queue.h"

namespace varve::io {

Result<std::unique_ptr<Directory>> UringFileSystem::open_directory(std::string_view path) {
  return calls_.open_directory(path);
}

Status UringFileSystem::create_directory(std::string_view path, SyncPoint point) {
  return calls_.create_directory(path, point);
}

Result<std::unique_ptr<ReadQueue>> UringFileSystem::make_read_queue(Scheduler& scheduler, std::size_t depth) {
  Result<std::unique_ptr<ReadQueue>> queue = UringReadQueue::make(depth);
  if (queue.ok()) return queue;
  probe("a ring was refused");
  return calls_.make_read_queue(scheduler, depth);
}

}  // namespace varve::io
