// Owns: the builds of indexes that requests began and that outlast them.
// Must never: keep an index from being dropped, or report a build that has ended as going on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
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
  /// Each build occupies a thread of the store's calls.
  static constexpr std::size_t kAtOnceMax = 4;

  /// The store must outlive the builds, and waits for them when it is closed.
  explicit IndexBuilds(Store& store);
  IndexBuilds(const IndexBuilds&) = delete;
  IndexBuilds& operator=(const IndexBuilds&) = delete;

  /// Builds an index that was declared, until `stop`. Does nothing if the build goes on already.
  /// Errors: kBusy (kAtOnceMax builds go on).
  Status begin(std::string_view account, std::string_view table, const IndexDefinition& definition,
               const std::stop_token& stop);
  /// Returns what the build of this index has done, if it goes on.
  std::optional<IndexBuildProgress> progress(std::string_view account, std::string_view table,
                                             std::string_view index) const;
  /// Returns why the last build that this server began has ended, or nothing if it has not ended or has succeeded.
  std::optional<std::string> failure(std::string_view account, std::string_view table, std::string_view index) const;

  /// How long a request builds an index itself. A longer build goes on without the request.
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
