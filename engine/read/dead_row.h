// Owns: the knowledge that one iteration gains about adjacent dead keys, and the stretches it learns from others.
// Must never: call keys dead that the iteration did not see as dead, at its moment and in every source.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/memory/dead_stretches.h"

namespace varve::engine {

/// Whether an iteration sees every entry of its range. An iteration that skips unwanted entries knows nothing about
/// them.
enum class WalkSees : std::uint8_t { kAll, kWhatItWants };

/// The keys found dead since the iteration was sent to a position, or since the last live key.
class DeadRow {
 public:
  /// For an iteration over data that has no writers: nothing is known, and nothing is recorded.
  DeadRow() noexcept = default;
  DeadRow(DeadStretches& stretches, const Moment& moment, WalkSees sees) noexcept
      : stretches_(&stretches), moment_(moment), sees_(sees) {}

  /// Makes it report even a row of few keys: known stretches adjoin it and are joined with it.
  void tell_all() noexcept { keys_worth_knowing_ = 0; }

  /// The iteration was sent to `edge`. Forward, it continues with this key; backward, with the key below.
  void begin_at(std::string_view edge);
  /// The iteration continues from a live key.
  void begin_anywhere() noexcept { is_open_ = false; }

  // Record a dead key, forward or backward. Return true if it is time to ask for the end of a known stretch.
  bool take_forward(std::string_view key) { return is_on() && take(key, ""); }
  bool take_backward(std::string_view key) { return is_on() && take(key, kBehind); }

  /// Ends a row of a forward iteration: no key before this one is live.
  void end_before(std::string_view key) {
    if (end()) stretches_->add(edge_, key, moment_);
  }
  /// Ends a row of a backward iteration: no key after this one is live. end_at() means: no key from this one on.
  void end_behind(std::string_view key) {
    if (end()) stretches_->add(std::string(key).append(kBehind), edge_, moment_);
  }
  void end_at(std::string_view key) {
    if (end()) stretches_->add(key, edge_, moment_);
  }

  // If the stretch is known, return the position to continue at: the first key after the stretch that contains `key`,
  // or the first key of the stretch directly below `key`.
  std::optional<std::string> end_of(std::string_view key);
  std::optional<std::string> begin_below(std::string_view key);

 private:
  /// Minimum number of keys of a row. Shorter rows are not worth a place in the list.
  static constexpr std::uint64_t kKeysWorthKnowing = 32;
  /// The same for a row that adjoins a known stretch: it makes that stretch longer, and needs no place of its own.
  static constexpr std::uint64_t kKeysWorthJoining = 4;
  /// Number of keys between two questions. A question costs about as much as this many steps.
  static constexpr std::uint64_t kKeysBetweenQuestions = 8;
  /// Appended to a key, it makes the next key.
  static constexpr std::string_view kBehind{"\0", 1};

  bool is_on() const noexcept { return stretches_ != nullptr && stretches_->is_on(); }
  bool take(std::string_view key, std::string_view suffix);
  /// Ends the row. Returns whether it is to be reported.
  bool end() noexcept {
    const std::uint64_t worth = adjoins_ ? std::min(kKeysWorthJoining, keys_worth_knowing_) : keys_worth_knowing_;
    const bool tells = is_open_ && keys_ >= worth && sees_ == WalkSees::kAll;
    is_open_ = false;
    return tells;
  }

  DeadStretches* stretches_ = nullptr;
  Moment moment_{0};
  WalkSees sees_ = WalkSees::kAll;
  std::uint64_t keys_worth_knowing_ = kKeysWorthKnowing;
  bool is_open_ = false;
  bool adjoins_ = false;   // the row contains a known stretch
  bool was_sent_ = false;  // and has met no key since: another stretch may begin where one ends
  std::uint64_t keys_ = 0;
  std::string edge_;  // where the row began: forward its first key, backward the key after its last one
};

}  // namespace varve::engine
