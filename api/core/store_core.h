// Owns: the state that the handles of a store share. It outlives the Store object as long as a handle exists.
// Must never: be visible to users, or know an entity.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/blob/append_lines.h"
#include "api/blob/blob_board.h"
#include "api/blob/blob_followers.h"
#include "api/blob/blob_keeper.h"
#include "api/blob/reader_pins.h"
#include "api/catalog/catalog.h"
#include "api/commit/backend.h"
#include "api/filter/plan_cache.h"
#include "api/queue/live_queue.h"
#include "api/queue/queue_keeper.h"
#include "engine/async/async_engine.h"
#include "engine/engine.h"
#include "io/posix/posix_process.h"
#include "varve/options.h"
#include "varve/result.h"
#include "varve/snapshot.h"
#include "varve/version.h"

namespace varve {

class StoreCore;

/// A version that a snapshot keeps readable, and its store.
struct VARVE_LOCAL Snapshot::State {
  std::shared_ptr<StoreCore> core;
  engine::HeldVersion held;  // destroyed before the core
};

/// Any thread, except that close() comes last.
class StoreCore : public std::enable_shared_from_this<StoreCore> {
 public:
  /// Errors: those of Store::open.
  static Result<std::shared_ptr<StoreCore>> open(std::string_view path, const StoreOptions& options);
  ~StoreCore();
  StoreCore(const StoreCore&) = delete;
  StoreCore& operator=(const StoreCore&) = delete;

  /// Waits for the end of asynchronous operations, then closes. Errors: those of Store::close, kInvalidArgument (called
  /// on the asynchronous thread).
  Status close();
  /// Returns false in a fork of the process that opened the store.
  bool is_usable() const noexcept { return owner_.is_this_process(); }
  bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// Called first by a verb that waits. Errors: kClosed, kLocked (in a fork), kInvalidArgument (on the asynchronous
  /// thread).
  Status check_open() const;
  /// Errors: kLocked (in a fork).
  Status check_process() const;
  /// Called first by a write. Errors: as check_open(), and kReadOnly.
  Status check_writable() const;

  /// Returns the threads of asynchronous operations. The first call starts them. Errors: kClosed, kLocked (in a fork),
  /// those of AsyncEngine::start.
  Result<engine::AsyncEngine*> async();

  /// What reads and changes go through.
  Backend& backend() noexcept { return *backend_; }
  /// For operations on this one engine as a whole: its figures, its files, sync and compaction.
  engine::Engine& engine() noexcept { return *engine_; }
  Catalog& catalog() noexcept { return *catalog_; }
  QueueBoard& queues() noexcept { return *queues_; }
  /// Called when a queue is used.
  void keep_queues() noexcept {
    if (keeper_) keeper_->begin();
  }

  BlobBoard& blobs() noexcept { return *blobs_; }
  ReaderPins& reader_pins() noexcept { return *reader_pins_; }
  BlobFollowers& followers() noexcept { return *followers_; }
  AppendLines& append_lines() noexcept { return *append_lines_; }
  /// Called when a container is used.
  void keep_blobs() noexcept {
    if (blob_keeper_) blob_keeper_->begin();
  }
  /// Called after a commit that left work to do for blobs.
  void wake_blob_keeper() noexcept { blobs_->wake_keeper(); }

  /// Reports "WHAT: FAILURE" to the logger.
  void log_failure(std::string_view what, const Status& failure) noexcept;

  Snapshot snapshot();
  /// Returns the state that a read sees. Errors: kInvalidArgument (InvalidInput: a snapshot of another store, or of no
  /// store).
  Result<engine::ReadView> view(const std::optional<Snapshot>& snapshot) const;

  /// Returns the state that a reader of a content sees. Errors: as ReaderPin::Use::snapshot.
  Result<engine::ReadView> view(const ReaderPin::Use& use) const;

  /// Returns the state that reads of a snapshot see. The snapshot must be of a store that is open.
  static Result<engine::ReadView> view_of(const Snapshot& snapshot);
  /// Returns the time at which reads of the snapshot judge the ends of entities; zero if it sees no entity with an end.
  static engine::CommitVersion time_of(const Snapshot& snapshot) noexcept;

  Durability durability(const WriteOptions& options) const noexcept;
  const StoreLimits& limits() const noexcept { return limits_; }
  /// The plans of this store's scans.
  PlanCache& plans() noexcept { return plans_; }
  /// As StoreOptions::short_pages.
  bool makes_short_pages() const noexcept { return makes_short_pages_; }

 private:
  class EventForwarder;
  StoreCore(std::string_view path, std::shared_ptr<Resources> resources);
  Status check_thread() const;

  const io::OwnerProcess owner_ = io::OwnerProcess::current();
  std::shared_ptr<Resources> resources_;
  std::unique_ptr<EventForwarder> events_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<QueueBoard> queues_;
  std::unique_ptr<QueueKeeper> keeper_;  // none in a store opened read-only, or closed
  std::unique_ptr<BlobBoard> blobs_;
  std::unique_ptr<ReaderPins> reader_pins_;
  std::unique_ptr<BlobFollowers> followers_;
  std::unique_ptr<AppendLines> append_lines_;
  std::unique_ptr<BlobKeeper> blob_keeper_;  // as keeper_
  PlanCache plans_;
  StoreLimits limits_;
  bool makes_short_pages_ = false;
  std::atomic<bool> closed_{false};
  std::unique_ptr<io::Mutex> async_mutex_;
  bool makes_no_async_ = false;  // under the mutex: close() was called
  std::atomic<engine::AsyncEngine*> async_{nullptr};
  std::unique_ptr<engine::AsyncEngine> own_async_;  // under the mutex; after the engine and the catalog, which it uses
};

}  // namespace varve
