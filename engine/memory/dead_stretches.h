// Owns: stretches of keys that are known to hold nothing live, so that no walk need step over what was deleted there.
// Must never: keep a stretch that a published put is in, or cost anything while hardly anything is deleted.
//
// What is known is of content, wherever it lies: neither a flush nor a compaction changes it.
//
// Z1  nothing in a stretch is live at any version from its `since` to the newest one visible. It was walked over at
//     that version, and every put above it was noted before it was published: the list was told of it, and is cut
//     there, or will be told before anybody can read at its version.
// Z2  a put that is not among the recent ones was not noted while the list was in use, or is forgotten; its version is
//     at or below forgotten_, and no walk at a version below that is believed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Any thread.
class DeadStretches {
 public:
  /// After so many deletes somebody looks around.
  static constexpr std::uint64_t kDeletesBetweenLooks = 64;
  static constexpr std::size_t kStretchesMax = 64;
  static constexpr std::size_t kRecentPuts = 256;
  /// After so many puts while nobody adds or asks for a stretch all are forgotten, and puts are noted no more.
  static constexpr std::uint64_t kUnaskedMax = 100'000;

  explicit DeadStretches(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}
  DeadStretches(const DeadStretches&) = delete;
  DeadStretches& operator=(const DeadStretches&) = delete;

  /// Whether there may be stretches, and puts are to be noted.
  bool is_on() const noexcept { return on_.load(std::memory_order_acquire); }
  /// Puts are noted from now on. `newest_unnoted` gives a version at or above that of every put that was not, or will
  /// not be, noted because is_on() said no.
  void begin(const std::function<CommitVersion()>& newest_unnoted);
  /// The batch's puts are about to be published.
  void note(std::string_view batch, CommitVersion version) noexcept;

  /// Counts; true where it is time to look around for what is dead beside these.
  bool count_deletes(std::uint64_t count) noexcept;
  /// Who walked over [from, to) at a visible version, every source of it, found nothing live. Both lie in one table,
  /// `to` may be its end.
  void add(std::string_view from, std::string_view to, CommitVersion version);

  /// Of the stretch that holds the key, if that is known to be dead at `version`, which is visible: the first key
  /// behind it.
  std::optional<std::string> end_of(std::string_view key, CommitVersion version);
  /// Of the stretch that holds the keys right below this one: its first.
  std::optional<std::string> begin_below(std::string_view key, CommitVersion version);

 private:
  struct Stretch {
    std::string to;
    CommitVersion since = 0;
    std::uint64_t last_use = 0;
  };
  using Stretches = std::map<std::string, Stretch, std::less<>>;  // by first key; they neither overlap nor touch
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
  bool was_put_since(std::string_view from, std::string_view to, CommitVersion version) const VARVE_REQUIRES(mutex_);
  void enter(std::string from, Stretch stretch) VARVE_REQUIRES(mutex_);
  Stretches::iterator at_or_before(std::string_view key) VARVE_REQUIRES(mutex_);
  void use(Stretch& stretch) noexcept VARVE_REQUIRES(mutex_);

  std::atomic<bool> on_{false};
  std::atomic<std::uint64_t> deletes_{0};

  io::Mutex mutex_;
  Stretches stretches_ VARVE_GUARDED_BY(mutex_);
  std::vector<Put> recent_ VARVE_GUARDED_BY(mutex_);  // a ring once it is full
  std::size_t next_recent_ VARVE_GUARDED_BY(mutex_) = 0;
  CommitVersion forgotten_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t uses_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t unasked_ VARVE_GUARDED_BY(mutex_) = 0;  // puts noted since the last use
};

}  // namespace varve::engine
