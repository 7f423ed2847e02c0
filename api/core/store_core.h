// Owns: what a store's handles share, and what outlives the Store object as long as one of them lives.
// Must never: be seen by users, or know an entity.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/catalog/catalog.h"
#include "api/filter/plan_cache.h"
#include "engine/async/async_engine.h"
#include "engine/engine.h"
#include "io/posix/posix_process.h"
#include "varve/options.h"
#include "varve/result.h"
#include "varve/snapshot.h"
#include "varve/statistics.h"

namespace varve {

class StoreCore;

/// A version that somebody keeps readable, and the store it is a version of.
struct Snapshot::State {
  std::shared_ptr<StoreCore> core;
  engine::Snapshot held;  // let go before the core
};

/// Any thread, but close() comes last.
class StoreCore : public std::enable_shared_from_this<StoreCore> {
 public:
  /// Errors: those of Store::open.
  static Result<std::shared_ptr<StoreCore>> open(std::string_view path, const StoreOptions& options);
  ~StoreCore();
  StoreCore(const StoreCore&) = delete;
  StoreCore& operator=(const StoreCore&) = delete;

  /// Waits for the end of asynchronous operations. Errors: those of Store::close, kInvalidArgument (called by one).
  Status close();
  /// False in a fork of the process that opened the store.
  bool is_usable() const noexcept { return owner_.is_this_process(); }
  bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// Before a verb that waits. Errors: kClosed, kLocked (in a fork), kInvalidArgument (on the asynchronous thread).
  Status check_open() const;
  /// Errors: kLocked (in a fork).
  Status check_process() const;
  /// Before a write. Errors: kClosed, kLocked, kReadOnly.
  Status check_writable() const;

  /// What asynchronous operations run on, made with the first one. Errors: kClosed, kLocked (in a fork), those of
  /// AsyncEngine::start.
  Result<engine::AsyncEngine*> async();

  engine::Engine& engine() noexcept { return *engine_; }
  Catalog& catalog() noexcept { return *catalog_; }

  Snapshot snapshot();
  /// The state a read is asked to see. Errors: kInvalidArgument (InvalidInput: a snapshot of another store, or of
  /// none).
  Result<engine::ReadView> view(const std::optional<Snapshot>& snapshot) const;

  engine::Durability durability(const WriteOptions& options) const noexcept;
  const StoreLimits& limits() const noexcept { return limits_; }
  /// Of the scans of this store.
  PlanCache& plans() noexcept { return plans_; }
  /// StoreOptions::short_pages.
  bool makes_short_pages() const noexcept { return makes_short_pages_; }

 private:
  class EventForwarder;
  StoreCore(std::string_view path, std::shared_ptr<Resources> resources);
  Status check_thread() const;

  const io::OwnerProcess owner_ = io::OwnerProcess::current();
  std::shared_ptr<Resources> resources_;
  std::unique_ptr<EventForwarder> events_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Catalog> catalog_;
  PlanCache plans_;
  StoreLimits limits_;
  bool makes_short_pages_ = false;
  std::atomic<bool> closed_{false};
  std::unique_ptr<io::Mutex> async_mutex_;
  bool makes_no_async_ = false;  // under the mutex: close() was called
  std::atomic<engine::AsyncEngine*> async_{nullptr};
  std::unique_ptr<engine::AsyncEngine> own_async_;  // under the mutex; behind the engine and the catalog, which it uses
};

/// What the engine calls it.
engine::Durability to_engine(Durability durability) noexcept;
Durability from_engine(engine::Durability durability) noexcept;
Health from_engine(engine::Health health) noexcept;
RecoveryStatistics from_engine(const engine::RecoveryFigures& from) noexcept;

}  // namespace varve
