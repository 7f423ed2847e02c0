// Owns: the waits of a standby and of an owner (standby.h).
// Must never: take any other failure for the life of another owner.
#include "tools/serve/standby.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace varve::serve {

namespace {

/// A server that lost its store answers nothing from it. It ends this soon after it could know.
constexpr std::chrono::milliseconds kAskEvery{500};

/// Calls hooks.alive() in the background until its end.
class LifeSigns {
 public:
  explicit LifeSigns(const StandbyHooks& hooks) : hooks_(hooks), thread_([this] { run(); }) {}
  ~LifeSigns() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      ending_.notify_all();
    }
    thread_.join();
  }
  LifeSigns(const LifeSigns&) = delete;
  LifeSigns& operator=(const LifeSigns&) = delete;

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!is_ending_) {
      hooks_.alive();
      ending_.wait_for(lock, hooks_.alive_every, [this] { return is_ending_; });
    }
  }

  const StandbyHooks& hooks_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool is_ending_ = false;
  std::thread thread_;  // begins last
};

/// Returns nothing if it is not asked for, or if the system cannot start another thread.
std::unique_ptr<LifeSigns> show_life(const StandbyHooks& hooks) {
  if (!hooks.alive || hooks.alive_every.count() <= 0) return nullptr;
  try {
    return std::make_unique<LifeSigns>(hooks);
  } catch (const std::system_error&) {
    return nullptr;
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_as_owner(const StorePlace& place, StoreOptions options, const StandbyHooks& hooks) {
  if (place.env != nullptr) options.env = place.env;
  bool has_told = false;
  std::unique_ptr<LifeSigns> life;
  for (;;) {
    // An attempt watches the owner's lease for a while, so this loop is slow.
    Result<std::unique_ptr<Store>> opened = Store::open(place.path, options);
    if (opened.code() != Code::kLocked || !place.is_shared) return opened;
    options.create_if_absent = false;  // A store that is gone later is not made again, empty.
    if (!std::exchange(has_told, true)) {
      hooks.on_standby();
      life = show_life(hooks);
    }
    if (!hooks.may_wait()) return opened;
  }
}

Status find_loss(const Store& store) {
  ListOptions first;
  first.page_names_max = 1;
  const Result<AccountPage> page = store.list_accounts(first);
  return page.code() == Code::kFenced ? page.status() : Status();
}

Result<std::unique_ptr<OwnerWatch>> OwnerWatch::start(const Store& store, std::function<void()> on_lost) {
  try {
    auto watch = std::make_unique<OwnerWatch>(store, std::move(on_lost));
    watch->thread_ = std::thread([raw = watch.get()] { raw->run(); });
    return watch;
  } catch (const std::system_error&) {
    return Status(Code::kOutOfMemory, "the system cannot start another thread; raise `ulimit -u`");
  }
}

OwnerWatch::~OwnerWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    ending_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Status OwnerWatch::loss() const {
  const std::lock_guard lock(mutex_);
  return loss_;
}

void OwnerWatch::run() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    lock.unlock();
    Status loss = find_loss(store_);
    lock.lock();
    if (!loss.ok()) {
      loss_ = std::move(loss);
      lock.unlock();
      return on_lost_();
    }
    ending_.wait_for(lock, kAskEvery, [this] { return is_ending_; });
  }
}

}  // namespace varve::serve
