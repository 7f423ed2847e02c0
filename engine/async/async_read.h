// Owns: the reading of keys at one state, without a thread that waits.
// Must never: go before every search of it has ended.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/async/executor.h"
#include "engine/engine.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time. Stays where it is.
class AsyncRead {
 public:
  /// Both outlive it.
  AsyncRead(Executor& executor, const ReadView& view) noexcept;
  ~AsyncRead();
  AsyncRead(const AsyncRead&) = delete;
  AsyncRead& operator=(const AsyncRead&) = delete;

  /// Looks for the newest entry of each key that is not above `at_most`, or for its version alone, in memtables and in
  /// blocks that the cache has; once, first, on any thread. True when that was all; else begin() is next. The keys'
  /// bytes outlive this. Errors: kOutOfMemory; nothing was begun.
  Result<bool> look(std::span<const std::string_view> sort_keys, CommitVersion at_most, EntryPart part);
  /// Reads what was not there. On the executor's thread, where `end` runs when all is found: not within this call.
  void begin(Step& end) noexcept;
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
