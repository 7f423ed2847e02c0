// Owns: the public connection over the door of io/rados (varve/rados.h).
// Must never: hold a store.
#include "varve/rados.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

#include "io/env.h"
#include "io/rados/cache_file.h"
#include "io/rados/librados_door.h"
#include "io/rados/pool_watch.h"
#include "io/rados/rados_file_system.h"
#include "io/rados/rados_names.h"
#include "io/rados/read_cache.h"
#include "io/rados/watched_door.h"

namespace varve {

struct RadosConnection::Parts {
  Parts(std::string_view pool, std::unique_ptr<io::ObjectDoor> opened, const io::RadosOptions& options)
      : door(std::move(opened)),
        watched(*door, machine.clock),
        files(pool, watched, machine.clock, machine.random, machine.scheduler, options) {}

  const io::Env& machine = io::system_env();
  std::unique_ptr<io::ObjectDoor> door;
  io::WatchedDoor watched;
  io::RadosFileSystem files;
  const io::Env env{files, machine.clock, machine.random, machine.scheduler};
  io::PoolWatch pool_watch{watched, files.process(), machine.scheduler};
};

bool is_rados_address(std::string_view path) noexcept {
  return io::is_rados_address(path);
}

RadosConnection::RadosConnection(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}

RadosConnection::~RadosConnection() = default;

namespace {

io::RadosOptions options_of(const RadosConnectionOptions& chosen) noexcept {
  io::RadosOptions options;
  options.verified_reads = chosen.verified_reads;
  options.owner_wait = std::min<std::chrono::milliseconds>(chosen.owner_wait, std::chrono::hours(24 * 365));
  options.takeover_wait = chosen.takeover_wait;
  return options;
}

}  // namespace

Result<std::unique_ptr<RadosConnection>> RadosConnection::open(std::string_view address) {
  return open(address, RadosConnectionOptions());
}

Result<std::unique_ptr<RadosConnection>> RadosConnection::open(std::string_view address,
                                                               const RadosConnectionOptions& options) try {
  const Result<io::RadosAddress> parsed = io::parse_rados_address(address);
  if (!parsed.ok()) return parsed.status();
  Result<std::unique_ptr<io::ObjectDoor>> door = io::connect_to_pool(parsed->pool);
  if (!door.ok()) return door.status();
  auto parts = std::make_unique<Parts>(parsed->pool, *std::move(door), options_of(options));
  return std::unique_ptr<RadosConnection>(new RadosConnection(std::move(parts)));
} catch (const std::bad_alloc&) {
  return Status(Code::kOutOfMemory, "there is not enough memory to connect to a cluster");
}

static_assert(RadosConnection::kLocalCacheBytesMin == io::ReadCache::kSizeMin);
static_assert(RadosConnection::kLocalCacheBytesForOneOfMemory == io::ReadCache::kBytesForOneOfIndex);

namespace {

/// Makes a cache in the files of this name. Errors: those of io::open_cache_files() and io::ReadCache::make().
Result<std::unique_ptr<io::ReadCache>> make_local_cache(std::string_view directory, std::string_view name,
                                                        std::uint64_t size_bytes, io::Scheduler& scheduler) {
  Result<io::CacheFiles> files = io::open_cache_files(directory, name);
  if (!files.ok()) return files.status();
  return io::ReadCache::make(std::move(files->blocks), size_bytes, scheduler, std::move(files->index));
}

RadosLocalCache local_cache_figures(const io::RadosProcess& process) {
  // The figures of new files come first: each read asks that cache last.
  const io::ReadCacheFigures fresh =
      process.fresh_cache() == nullptr ? io::ReadCacheFigures() : process.fresh_cache()->figures();
  const io::ReadCacheFigures again = process.read_cache()->figures();
  RadosLocalCache figures;
  figures.size_bytes = again.size_bytes + fresh.size_bytes;
  figures.hits = again.hits + fresh.hits;
  figures.misses = again.misses - fresh.hits;
  figures.taken_bytes = again.taken_bytes + fresh.taken_bytes;
  figures.damaged = again.damaged + fresh.damaged;
  figures.failed_segments = again.failed_segments + fresh.failed_segments;
  figures.found_entries = again.found_entries + fresh.found_entries;
  figures.is_kept = again.is_kept;
  figures.fresh_bytes = fresh.taken_bytes;
  return figures;
}

}  // namespace

Status RadosConnection::set_local_cache(std::string_view directory, std::uint64_t size_bytes) try {
  io::RadosProcess& process = parts_->files.process();
  if (process.read_cache() != nullptr || process.figures().ownerships > 0) {
    return Status::invalid_argument("a local cache is set once, before a store is opened");
  }
  std::uint64_t fresh_bytes = size_bytes / kLocalCacheBytesForOneOfNewFiles;
  if (fresh_bytes < io::ReadCache::kSizeMin) fresh_bytes = 0;
  Result<std::unique_ptr<io::ReadCache>> cache =
      make_local_cache(directory, "varve-cache", size_bytes - fresh_bytes, parts_->machine.scheduler);
  if (!cache.ok()) return cache.status();
  std::unique_ptr<io::ReadCache> fresh;
  if (fresh_bytes > 0) {
    Result<std::unique_ptr<io::ReadCache>> made =
        make_local_cache(directory, "varve-cache-new", fresh_bytes, parts_->machine.scheduler);
    if (!made.ok()) return made.status();
    fresh = *std::move(made);
  }
  process.set_read_cache(*std::move(cache), std::move(fresh));
  return Status();
} catch (const std::bad_alloc&) {
  return Status::out_of_memory();
}

namespace {

RadosOperations operations_of(const io::DoorFigures& door) {
  return {door.answered, door.time, door.slow, door.waiting, door.longest_wait, door.longest_object};
}

std::vector<RadosLatency> latencies_of(const io::WatchedDoor& door) {
  constexpr std::pair<io::ObjectClass, const char*> kClasses[] = {{io::ObjectClass::kLog, "log"},
                                                                  {io::ObjectClass::kFile, "file"},
                                                                  {io::ObjectClass::kRoot, "root"},
                                                                  {io::ObjectClass::kLease, "lease"}};
  static_assert(std::size(kClasses) == io::kObjectClasses);
  std::vector<RadosLatency> latencies;
  for (const auto& [of, name] : kClasses) {
    const io::ClassFigures reads = door.reads(of);
    const io::ClassFigures changes = door.changes(of);
    latencies.push_back({name, "read", reads.answered, reads.time, reads.slow});
    latencies.push_back({name, "change", changes.answered, changes.time, changes.slow});
  }
  return latencies;
}

}  // namespace

Result<RadosFigures> RadosConnection::figures() const try {
  io::RadosProcess& process = parts_->files.process();
  if (!process.owner().is_this_process()) {
    return Status(Code::kLocked, "the connection belongs to the parent of this forked process; open another one");
  }
  (void)parts_->pool_watch.start();  // Without a thread, the figures have no pool.
  const io::OwnershipFigures ownership = process.figures();
  const io::DoorFigures reads = parts_->watched.reads();
  const io::DoorFigures changes = parts_->watched.changes();
  RadosFigures figures;
  figures.process = process.id();
  figures.client = parts_->watched.client();
  figures.owned = {ownership.owned.begin(), ownership.owned.end()};
  figures.ownerships = ownership.ownerships;
  figures.takeovers = ownership.takeovers;
  figures.fences = ownership.fences;
  figures.is_fenced = ownership.is_fenced;
  figures.lease_age = ownership.lease_age;
  figures.lease_time = process.options().lease_time;
  figures.lease_lapses = ownership.lease_lapses;
  figures.reads = operations_of(reads);
  figures.changes = operations_of(changes);
  figures.latencies = latencies_of(parts_->watched);
  figures.reads_given_up = reads.given_up;
  figures.changes_refused_full = changes.refused_full;
  if (const std::optional<io::PoolLook> pool = parts_->pool_watch.seen()) {
    figures.pool = RadosPool{pool->is_full, pool->is_nearly_full, pool->copies, pool->copies_min};
  }
  if (process.read_cache() != nullptr) figures.local_cache = local_cache_figures(process);
  return figures;
} catch (const std::bad_alloc&) {
  return Status::out_of_memory();
}

void RadosConnection::set_read_patience(std::chrono::milliseconds patience) const noexcept {
  parts_->files.process().set_read_patience(patience);
}

const io::Env* RadosConnection::env() const noexcept {
  return &parts_->env;
}

}  // namespace varve
