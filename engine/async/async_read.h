// Owns: reading keys at one state, without a waiting thread.
// Must never: be destroyed before all its searches have ended.
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

/// Used by one thread at a time. Must not move.
class AsyncRead {
 public:
  /// Both arguments outlive it.
  AsyncRead(Executor& executor, const ReadView& view) noexcept;
  ~AsyncRead();
  AsyncRead(const AsyncRead&) = delete;
  AsyncRead& operator=(const AsyncRead&) = delete;

  /// Searches memtables and cached blocks for the newest entry of each key up to `at_most`, or only for its version.
  /// Called once, first, on any thread. Returns true if that found everything; otherwise the caller calls begin() next.
  /// The keys' bytes outlive this object.
  /// Errors: kOutOfMemory; then nothing was begun.
  Result<bool> look(std::span<const std::string_view> sort_keys, CommitVersion at_most, EntryPart part);
  /// Reads the missing blocks. Called on the executor's thread, which runs `end` once all searches have ended. `end`
  /// never runs within this call.
  void begin(Step& end) noexcept;
  /// Returns the entries after the end, once, in the order of the keys, as read_point() does. Errors: as read_point(),
  /// for the first key that fails; those of Engine::may_answer(), unless the newest states were searched.
  Result<std::vector<std::optional<FoundEntry>>> take();

 private:
  class KeySearch;

  Executor& executor_;
  const ReadView& view_;
  std::vector<std::optional<FoundEntry>> found_;
  std::vector<std::unique_ptr<KeySearch>> searches_;
  bool is_answer_ = true;  // not of the states that a commit is judged by
  std::size_t under_way_ = 0;
  Step* end_ = nullptr;
};

}  // namespace varve::engine
