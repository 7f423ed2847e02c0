// Owns: stretches of keys that are known to hold nothing live, so that a scan can skip the deleted entries there.
// Must never: keep a stretch that contains a published put, or cost anything while hardly any key is deleted.
//
// A stretch describes the content of the store, wherever the entries are. Flushes and compactions do not change it.
//
// Z1  Nothing in a stretch is live at any version from its `since` to the newest visible version. A scan read the whole
//     stretch at `since`. Every put above `since` is noted before it is published. So the list either is cut at that
//     put already, or will be cut before any reader can read at the put's version.
//     A walk also passes entities that had ended at its time. They are dead at every time at or above that one, so
//     `since` is a moment: a reader whose version or time is below it does not use the stretch. Such a reader may use an
//     end that the stretch had before it grew. A put cuts these ends too, because it makes new stretches without them.
// Z2  A put missing from the recent puts was either committed while the list was off, or is forgotten. Its version is
//     at or below forgotten_. The list discards every report of a scan at a version below forgotten_.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry.h"
#include "engine/base/moment.h"
#include "engine/memory/stretch_map.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Thread-safe.
class DeadStretches {
 public:
  /// Number of deletes after which one committer starts a search for dead ranges. It is a prime. So if deletes visit a
  /// number of queues in turn, the searches visit all of them.
  static constexpr std::uint64_t kDeletesBetweenLooks = 61;
  static constexpr std::size_t kRecentPuts = 256;
  /// Number of puts noted without an add() or a successful look-up, after which the list forgets all stretches and
  /// turns itself off.
  static constexpr std::uint64_t kUnaskedMax = 100'000;

  /// Both arguments outlive it. `room` bounds the memory of the stretches; of those without room, some are forgotten.
  DeadStretches(io::Scheduler& scheduler, StretchRoom& room) noexcept : mutex_(scheduler), stretches_(room) {}
  DeadStretches(const DeadStretches&) = delete;
  DeadStretches& operator=(const DeadStretches&) = delete;

  /// Returns whether the list is on: then there may be stretches, and committers must note their puts.
  bool is_on() const noexcept { return on_.load(std::memory_order_acquire); }
  /// Turns the list on: committers note their puts from now on. `newest_unnoted` returns a version at or above that of
  /// every put that goes unnoted because its committer saw is_on() return false.
  void begin(const std::function<CommitVersion()>& newest_unnoted);
  /// Notes the puts of a batch. The caller calls it before it publishes the batch.
  void note(std::string_view batch, CommitVersion version) noexcept;

  /// Forgets all stretches, and what scans at versions below `since` are still to report. Called after entries came to be
  /// in the store that no batch put. `since` is above every version that a scan without them could read at.
  void forget_all(CommitVersion since) noexcept;

  /// Counts deletes. Returns true if it is time to look for dead keys around them.
  bool count_deletes(std::uint64_t count) noexcept;
  /// Reports that a scan read [from, to) in all its sources, at a visible version and a time, and found nothing live. Both keys
  /// are in one table; `to` may be the end of that table.
  void add(std::string_view from, std::string_view to, const Moment& moment);
  /// Reports that a commit of this version, which is visible, deleted the key. If one stretch ends at the key, and another
  /// begins directly after it, they become one. May throw std::bad_alloc.
  void join_around(std::string_view key, CommitVersion version);

  /// Returns the end of the stretch that contains the key: the first key after it. Returns nothing unless that stretch
  /// is known to be dead at `moment`, whose version is visible.
  std::optional<std::string> end_of(std::string_view key, const Moment& moment);
  /// Returns the first key of the stretch that contains the keys directly below `key`, under the condition of end_of().
  std::optional<std::string> begin_below(std::string_view key, const Moment& moment);

  /// Return the number of stretches, and the bytes that they take of the room.
  std::size_t size() const;
  std::uint64_t bytes() const;

 private:
  using Stretch = StretchMap::Stretch;
  struct Put {
    CommitVersion version = 0;
    std::string smallest;
    std::string largest;
  };

  void end() noexcept VARVE_REQUIRES(mutex_);
  void remember(const Put& put) VARVE_REQUIRES(mutex_);
  bool meets_a_stretch(std::string_view smallest, std::string_view largest) VARVE_REQUIRES(mutex_);
  void cut_at_puts(std::string_view batch) VARVE_REQUIRES(mutex_);
  void cut(std::string_view key) VARVE_REQUIRES(mutex_);
  bool grow(std::string_view from, std::string_view to, const Moment& moment) VARVE_REQUIRES(mutex_);
  bool was_put_since(std::string_view from, std::string_view to, CommitVersion version) const VARVE_REQUIRES(mutex_);
  void use(Stretch& stretch) noexcept VARVE_REQUIRES(mutex_);
  const StretchMap::End* end_at(Stretch& stretch, const Moment& moment) noexcept VARVE_REQUIRES(mutex_);

  std::atomic<bool> on_{false};
  std::atomic<std::uint64_t> deletes_{0};

  mutable io::Mutex mutex_;
  StretchMap stretches_ VARVE_GUARDED_BY(mutex_);
  std::vector<Put> recent_ VARVE_GUARDED_BY(mutex_);  // a ring once it is full
  std::size_t next_recent_ VARVE_GUARDED_BY(mutex_) = 0;
  CommitVersion forgotten_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t unasked_ VARVE_GUARDED_BY(mutex_) = 0;  // puts noted since a stretch was last added or found
};

}  // namespace varve::engine
