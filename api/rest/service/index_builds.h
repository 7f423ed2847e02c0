// Owns: the builds of indexes that requests began. They may outlast their requests.
// Must never: declare an index a second time after it was dropped, or report a build that has ended as going on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/store.h"
#include "varve/table_index.h"

namespace varve::serve {

/// Thread-safe.
class IndexBuilds {
 public:
  /// Each build occupies a thread of the store's calls, and so does each request that waits for one.
  static constexpr std::size_t kAtOnceMax = 4;

  /// A build that was begun.
  struct Build;
  using Handle = std::shared_ptr<Build>;
  /// The progress of a build, or the reason of its failure.
  struct Shown {
    std::optional<IndexBuildProgress> progress{};
    std::string failure{};
  };
  /// By the names of indexes.
  using ShownBuilds = std::map<std::string, Shown, std::less<>>;
  /// Gets the failures of builds that are the server's: the name of the index, and the failure.
  using Log = std::function<void(std::string_view what, const Status& failure)>;

  /// The store must outlive the builds, and waits for them when it is closed.
  explicit IndexBuilds(Store& store, Log log = {});
  IndexBuilds(const IndexBuilds&) = delete;
  IndexBuilds& operator=(const IndexBuilds&) = delete;

  /// Declares the index and builds it, until `stop`. If this server builds it already, returns that build.
  /// Errors: kBusy (kAtOnceMax builds go on; nothing was declared), kExists (ResourceAlreadyExists: an index of this name
  /// and another definition is being built).
  Result<Handle> begin(std::string_view account, std::string_view table, const IndexDefinition& definition,
                       const std::stop_token& stop);
  /// Builds each index of the store that was declared and is not ready, one after the other, until `stop`. Returns at
  /// once. So the builds of an earlier server go on: each begins anew. It waits while kAtOnceMax builds go on, and while the
  /// store is busy, for example because the owner of a shared store cannot renew its lease.
  void resume(const std::stop_token& stop) noexcept;
  /// Waits for the end of the build, for `time` at most, and blocks the thread meanwhile. Returns how it ended, or nothing
  /// if it goes on. Does not wait if kAtOnceMax threads wait.
  std::optional<Status> wait(const Handle& build, std::chrono::milliseconds time);
  /// Forgets the build of an index that was dropped or is about to be. Returns true if that build had declared nothing yet.
  /// Then it declares nothing any more.
  bool forget(std::string_view account, std::string_view table, std::string_view index);
  /// Returns the builds of this table's indexes that go on, and those that have failed.
  ShownBuilds of_table(std::string_view account, std::string_view table) const;

  /// Sets the time between the first two attempts while the store is busy. Each further one takes up to twice as long.
  void set_busy_wait(std::chrono::milliseconds time);
  /// What resume() does: all builds that were left have ended, they go on, or the next one waits for a place or for the store.
  enum class Left : std::uint8_t { kEnded, kGoOn, kWait };
  Left left() const;

  /// How long a request waits for the end of a build.
  /// @{
  std::chrono::milliseconds request_time() const noexcept { return request_time_.load(std::memory_order_relaxed); }
  void set_request_time(std::chrono::milliseconds time) noexcept {
    request_time_.store(time, std::memory_order_relaxed);
  }
  /// @}

 private:
  struct State;
  Store& store_;
  const std::shared_ptr<State> state_;
  std::atomic<std::chrono::milliseconds> request_time_{std::chrono::milliseconds(1000)};
};

}  // namespace varve::serve
