// Owns: the sizes between which the ballast changes (ballast.h).
// Must never: let go of held space because more was refused.
#include "engine/manifest/ballast.h"

#include <algorithm>
#include <new>

namespace varve::engine {

Status Ballast::restore() {
  const io::MutexGuard guard(mutex_);
  Status whole = directory_.set_ballast(kBallastName, kBallastBytes);
  if (whole.ok()) held_bytes_ = kBallastBytes;
  return whole;
}

void Ballast::lend() noexcept {
  const io::MutexGuard guard(mutex_);
  if (held_bytes_ <= kBallastBytes / 2) return;
  try {
    (void)give_part();  // The step that is tried again has the failure.
  } catch (const std::bad_alloc&) {
    // The step's next failure lends again.
  }
}

void Ballast::take_back() noexcept {
  const io::MutexGuard guard(mutex_);
  hold_again(kBallastBytes);
}

/// Less may be held than was known. A size above that is refused, and the next one is tried.
Status Ballast::give_part() {
  Status given;
  do {
    held_bytes_ -= std::min(held_bytes_, kBallastPartBytes);
    given = directory_.set_ballast(kBallastName, held_bytes_);
  } while (given.code() == Code::kNoSpace && held_bytes_ > 0);
  return given;
}

/// Holds as much as there is room for, up to `bytes_max`. Without memory, the space stays free until a later call.
void Ballast::hold_again(std::uint64_t bytes_max) noexcept {
  try {
    for (std::uint64_t bytes = bytes_max; bytes > held_bytes_; bytes -= kBallastPartBytes) {
      if (directory_.set_ballast(kBallastName, bytes).ok()) held_bytes_ = bytes;
    }
  } catch (const std::bad_alloc&) {
    // As said above.
  }
}

}  // namespace varve::engine
