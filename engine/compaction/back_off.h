// Owns: the objects that rest after a failure before they are tried again, and the length of each rest.
// Must never: forget a failure because time has passed. Only a success ends the series of growing rests.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "varve/status.h"

namespace varve::engine {

class BackOff {
 public:
  /// The first rest. Each further failure of the same object doubles its rest, up to the longest.
  static constexpr std::chrono::nanoseconds kFirst = std::chrono::milliseconds(500);
  static constexpr std::chrono::nanoseconds kLongest = std::chrono::seconds(16);

  /// A file of the store, or, with FileKind::kNone, a step of the caller that concerns no single file.
  using Key = std::pair<FileKind, std::uint64_t>;

  /// Notes a failure and returns the length of the rest that begins at `now`. After a lack of space (kNoSpace) it is
  /// always the first rest, since space may become free at any time. Throws std::bad_alloc.
  std::chrono::nanoseconds failed(Key key, std::chrono::nanoseconds now, Code why);
  void succeeded(Key key) noexcept { resting_.erase(key); }

  bool rests(Key key, std::chrono::nanoseconds now) const noexcept;
  /// Returns the numbers of the resting files of this kind. Throws std::bad_alloc.
  std::set<std::uint64_t> resting(FileKind kind, std::chrono::nanoseconds now) const;
  /// Ends all rests. A further failure still doubles the rest.
  void wake_all() noexcept;
  /// Forgets files that left the store. `is_there` is called for the files of this kind.
  template <typename IsThere>
  void forget_gone(FileKind kind, const IsThere& is_there) {
    std::erase_if(resting_,
                  [&](const auto& entry) { return entry.first.first == kind && !is_there(entry.first.second); });
  }

 private:
  struct Rest {
    std::chrono::nanoseconds length{0};
    std::chrono::nanoseconds until{0};
    bool is_over = false;  // ended by wake_all(), whatever the time
  };
  std::map<Key, Rest> resting_;
};

}  // namespace varve::engine
