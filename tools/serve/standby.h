// Owns: which process serves a store that several may open: waiting for the turn, and noticing that it is over.
// Must never: serve a request, or know where a store lies.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "varve/options.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::io {
struct Env;
}  // namespace varve::io

namespace varve::serve {

/// Where the store of `--data` lies.
struct StorePlace {
  /// What Store::open() gets.
  std::string path;
  /// The environment of the store. Null: this machine's.
  const io::Env* env = nullptr;
  /// Owns `env`, and so outlives the store.
  std::shared_ptr<const void> env_owner{};
  /// Whether a process that finds the store in use waits for it, and whether an owner may lose it to another process.
  bool is_shared = false;
};

/// What a process does while it waits for its store.
struct StandbyHooks {
  /// Called once, when the wait begins.
  std::function<void()> on_standby{};
  /// Called before each attempt but the first. If it returns false, the result is kLocked.
  std::function<bool()> may_wait{};
  /// If it is not empty, called at least once in `alive_every` from on_standby() until the end, on a thread of its own. A
  /// takeover takes as long as the cluster needs, and must not seem hung meanwhile. It must not throw.
  std::function<void()> alive{};
  std::chrono::microseconds alive_every{0};
};

/// Opens the store. If another process owns a shared one, waits until that owner is gone. Errors: those of Store::open().
Result<std::unique_ptr<Store>> open_as_owner(const StorePlace& place, StoreOptions options, const StandbyHooks& hooks);

/// Returns Ok, or kFenced if another owner has taken the store over. Reads the store.
Status find_loss(const Store& store);

/// Asks in the background whether the process still owns the store.
class OwnerWatch {
 public:
  /// Calls `on_lost` at most once, on a thread of its own. The store outlives this object. Errors: kOutOfMemory.
  static Result<std::unique_ptr<OwnerWatch>> start(const Store& store, std::function<void()> on_lost);
  /// Only start() calls it.
  OwnerWatch(const Store& store, std::function<void()> on_lost) : store_(store), on_lost_(std::move(on_lost)) {}
  /// Waits for the thread.
  ~OwnerWatch();
  OwnerWatch(const OwnerWatch&) = delete;
  OwnerWatch& operator=(const OwnerWatch&) = delete;

  /// Returns the loss, or Ok.
  Status loss() const;

 private:
  void run();

  const Store& store_;
  const std::function<void()> on_lost_;
  mutable std::mutex mutex_;
  std::condition_variable ending_;
  bool is_ending_ = false;
  Status loss_;
  std::thread thread_;
};

}  // namespace varve::serve
