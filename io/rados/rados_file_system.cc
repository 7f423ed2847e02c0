// Owns: finding and making stores by their addresses.
// Must never: list a pool.
#include "io/rados/rados_file_system.h"

#include <utility>

#include "io/posix/posix_handle.h"
#include "io/posix/threaded_read_queue.h"
#include "io/rados/rados_directory.h"
#include "io/rados/rados_names.h"

namespace varve::io {

RadosFileSystem::RadosFileSystem(std::string_view pool, ObjectDoor& door, Clock& clock, RandomSource& random,
                                 Scheduler& scheduler, RadosOptions options)
    : pool_(pool), process_(std::make_shared<RadosProcess>(door, clock, random, scheduler, options)) {}

Result<std::string> RadosFileSystem::name_in(std::string_view path) const {
  // The connection of a cluster does not outlive a fork.
  if (!process_->owner().is_this_process()) return HandleGuard::refuse_fork("open", path);
  Result<RadosAddress> address = parse_rados_address(path);
  if (!address.ok()) return address.status();
  if (address->pool != pool_) {
    return Status::invalid_argument("the pool of " + std::string(path) + " is not the open one, " + pool_);
  }
  return std::move(address->name);
}

Result<std::unique_ptr<Directory>> RadosFileSystem::open_directory(std::string_view path) {
  const Result<std::string> name = name_in(path);
  if (!name.ok()) return name.status();
  Result<std::shared_ptr<RadosRoot>> root = RadosRoot::find(process_, path, *name);
  if (!root.ok()) return root.status();
  return std::unique_ptr<Directory>(std::make_unique<RadosDirectory>(*std::move(root)));
}

Status RadosFileSystem::create_directory(std::string_view path, SyncPoint /*point*/) {
  const Result<std::string> name = name_in(path);
  return name.ok() ? RadosRoot::make(*process_, path, *name) : name.status();
}

Result<std::unique_ptr<ReadQueue>> RadosFileSystem::make_read_queue(Scheduler& scheduler, std::size_t depth) {
  return ThreadedReadQueue::make(scheduler, depth);
}

}  // namespace varve::io
