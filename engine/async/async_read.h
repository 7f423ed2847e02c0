// Owns: the reading of keys at one state, without a thread that waits.
// Must never: go before every search of it has ended.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/result.h"
#include "engine/async/executor.h"
#include "engine/engine.h"

namespace varve::engine {

/// On the executor's thread. Stays where it is.
class AsyncRead {
 public:
  /// All outlive it, the keys' bytes too.
  AsyncRead(Executor& executor, const ReadView& view) noexcept;
  ~AsyncRead();
  AsyncRead(const AsyncRead&) = delete;
  AsyncRead& operator=(const AsyncRead&) = delete;

  /// Looks for the newest entry of each key that is not above `at_most`, or for its version alone. True when nothing
  /// has to be waited for; else `end` runs on the executor's thread when all is found, and not within this call.
  /// Errors: kOutOfMemory; nothing was begun.
  Result<bool> begin(std::span<const std::string_view> sort_keys, CommitVersion at_most, EntryPart part, Step& end);
  /// After the end, once: in the order of the keys, as read_point() says. Errors: as read_point(), of the first key
  /// that fails.
  Result<std::vector<std::optional<FoundEntry>>> take();

 private:
  class KeySearch;

  Executor& executor_;
  const ReadView& view_;
  std::vector<std::optional<FoundEntry>> found_;
  std::vector<std::unique_ptr<KeySearch>> searches_;
  std::size_t under_way_ = 0;
  Step* end_ = nullptr;
};

}  // namespace varve::engine
