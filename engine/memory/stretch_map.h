// Owns: stretches of keys in order, the memory that they take, and the choice of those to forget.
// Must never: hold more memory than the room gave, or let two stretches overlap or touch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/entry.h"
#include "engine/base/moment.h"
#include "engine/memory/stretch_room.h"

namespace varve::engine {

/// One thread at a time may use it.
class StretchMap {
 public:
  /// The end that a stretch had from one moment on.
  struct End {
    std::string to;
    /// The moment of the walk that found it.
    Moment since{0};
  };
  struct Stretch : End {
    Stretch(std::string end, const Moment& moment, bool used) : End{std::move(end), moment}, was_used(used) {}

    /// Set by a use. The search for a stretch to forget clears it, and forgets a stretch without it.
    bool was_used;
    /// Set by a question from before `since`. From then on earlier ends are kept.
    bool is_asked_late = false;
    /// Ends that it had before it grew, in their order: few of them, and the older they are, the farther apart.
    std::vector<End> earlier;
  };
  using Stretches = std::map<std::string, Stretch, std::less<>>;  // by first key
  using iterator = Stretches::iterator;  // NOLINT(readability-identifier-naming): the library's name

  /// `room` outlives it.
  explicit StretchMap(StretchRoom& room) noexcept : room_(room) {}
  ~StretchMap() { clear(); }
  StretchMap(const StretchMap&) = delete;
  StretchMap& operator=(const StretchMap&) = delete;

  iterator begin() noexcept { return stretches_.begin(); }
  iterator end() noexcept { return stretches_.end(); }
  iterator lower_bound(std::string_view key) { return stretches_.lower_bound(key); }
  /// Returns the last stretch that begins at or before the key; the end if there is none.
  iterator at_or_before(std::string_view key);

  /// Adds a stretch that overlaps and touches none. If there is no room, it forgets others, or adds nothing if that
  /// does not suffice. Any iterator may become invalid. May throw std::bad_alloc; then nothing was added.
  void enter(std::string from, Stretch stretch);
  /// Makes the stretch end later in place. If readers ask from before, it keeps the end that it had, if there is room.
  /// The new end needs no more memory than the old one. May throw std::bad_alloc; then nothing was changed.
  void lengthen(iterator at, std::string_view to, const Moment& since);
  /// Removes a stretch and returns the next one.
  iterator erase(iterator at) noexcept;
  void clear() noexcept;

  std::size_t size() const noexcept { return stretches_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  static std::uint64_t bytes_of(const std::string& from, const Stretch& stretch) noexcept;
  void keep_end(iterator at);
  void forget_one() noexcept;

  StretchRoom& room_;
  Stretches stretches_;
  /// The search for a stretch to forget goes on here, and begins again after the last one (the clock algorithm).
  iterator hand_ = stretches_.end();
  std::uint64_t bytes_ = 0;
};

}  // namespace varve::engine
