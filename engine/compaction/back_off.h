// Owns: what failed and shall rest before it is tried again, and how long.
// Must never: forget a failure because time has passed: only a success ends the row of ever longer rests.
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
  /// The first rest. Each further failure of the same thing doubles it, up to the longest.
  static constexpr std::chrono::nanoseconds kFirst = std::chrono::milliseconds(500);
  static constexpr std::chrono::nanoseconds kLongest = std::chrono::seconds(16);

  /// A file of the store, or with kNone a step of the caller's that is of no one file.
  using Key = std::pair<FileKind, std::uint64_t>;

  /// How long it rests from `now` on: the first rest alone for want of space, which others may give back at any time.
  /// Throws std::bad_alloc.
  std::chrono::nanoseconds failed(Key key, std::chrono::nanoseconds now, Code why);
  void succeeded(Key key) noexcept { resting_.erase(key); }

  bool rests(Key key, std::chrono::nanoseconds now) const noexcept;
  /// The numbers of the files of this kind that rest. Throws std::bad_alloc.
  std::set<std::uint64_t> resting(FileKind kind, std::chrono::nanoseconds now) const;
  /// All may be tried at once. A further failure still doubles the rest.
  void wake_all() noexcept;
  /// Files that left the store are forgotten. `is_there` is asked of the files of this kind.
  template <typename IsThere>
  void forget_gone(FileKind kind, const IsThere& is_there) {
    std::erase_if(resting_,
                  [&](const auto& entry) { return entry.first.first == kind && !is_there(entry.first.second); });
  }

 private:
  struct Rest {
    std::chrono::nanoseconds length{0};
    std::chrono::nanoseconds until{0};
    bool is_over = false;  // by wake_all(), whatever the time
  };
  std::map<Key, Rest> resting_;
};

}  // namespace varve::engine
