// Owns: one look of a reader that follows an append blob (Container::tail).
// Must never: hold a view when it returns, because the caller waits then.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/core/container_state.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// A wait beyond this is as good as endless, and can be added to any time.
inline constexpr std::chrono::milliseconds kTailWaitMax = std::chrono::hours(24 * 365);

/// What a look found.
struct TailLook {
  BlobTail tail;
  /// The key of the blob's row. It changes if the container is deleted and created again.
  std::string key;
};

/// Checks the arguments of a tail. Errors: as Container::tail().
Status check_tail(std::string_view blob, const BlobTailOptions& options);
/// Returns the bytes from the offset on that the newest state has. The arguments were checked. Errors: as
/// Container::tail().
Result<TailLook> look_at_tail(const Container::State& container, std::string_view blob, const BlobTailOptions& options);

/// The error of a tail in a store that was closed.
Status tail_was_closed();

}  // namespace varve
