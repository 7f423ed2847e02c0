// Owns: what one walk learns of keys beside each other that are not live, and what it is told of them.
// Must never: call keys dead that the walk has not seen to be, at its version and in every source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/memory/dead_stretches.h"

namespace varve::engine {

/// Whether a walk sees every entry of its range: one that passes what it does not want knows nothing of it.
enum class WalkSees : std::uint8_t { kAll, kWhatItWants };

/// Keys that were found dead since the walk was sent to a place, or since the last live one.
class DeadRow {
 public:
  /// Of a walk over what nobody writes: nothing is known, and nothing is learnt.
  DeadRow() noexcept = default;
  DeadRow(DeadStretches& stretches, CommitVersion version, WalkSees sees) noexcept
      : stretches_(&stretches), version_(version), sees_(sees) {}

  /// It tells even of a row of few keys: what lies beside it is known, and is joined with it.
  void tell_all() noexcept { keys_worth_knowing_ = 0; }

  /// The walk is sent to `edge`, from which it goes on: forward with this key, backward with the one below.
  void begin_at(std::string_view edge);
  /// It goes on from a live key.
  void begin_anywhere() noexcept { is_open_ = false; }

  // A dead key is at hand, of a walk forward or backward. True where it is time to ask where the stretch ends.
  bool take_forward(std::string_view key) { return is_on() && take(key, ""); }
  bool take_backward(std::string_view key) { return is_on() && take(key, kBehind); }

  /// Of a walk forward, that nothing before this key is live.
  void end_before(std::string_view key) {
    if (end()) stretches_->add(edge_, key, version_);
  }
  /// Of a walk backward, that nothing behind this key, or from this key on, is live.
  void end_behind(std::string_view key) {
    if (end()) stretches_->add(std::string(key).append(kBehind), edge_, version_);
  }
  void end_at(std::string_view key) {
    if (end()) stretches_->add(key, edge_, version_);
  }

  // If the stretch is known, the walk is sent on: to the first key behind the one that holds `key`; before the first
  // key of the one right below it.
  std::optional<std::string> end_of(std::string_view key);
  std::optional<std::string> begin_below(std::string_view key);

 private:
  /// Fewer are not worth a place in the list.
  static constexpr std::uint64_t kKeysWorthKnowing = 32;
  /// A question costs about as much as so many steps.
  static constexpr std::uint64_t kKeysBetweenQuestions = 8;
  /// Makes of a key the next one.
  static constexpr std::string_view kBehind{"\0", 1};

  bool is_on() const noexcept { return stretches_ != nullptr && stretches_->is_on(); }
  bool take(std::string_view key, std::string_view suffix);
  /// Whether what is known now is to be told; the row ends.
  bool end() noexcept {
    const bool tells = is_open_ && keys_ >= keys_worth_knowing_ && sees_ == WalkSees::kAll;
    is_open_ = false;
    return tells;
  }

  DeadStretches* stretches_ = nullptr;
  CommitVersion version_ = 0;
  WalkSees sees_ = WalkSees::kAll;
  std::uint64_t keys_worth_knowing_ = kKeysWorthKnowing;
  bool is_open_ = false;
  bool was_sent_ = false;  // and has come across no key since: where one stretch ends, another may begin
  std::uint64_t keys_ = 0;
  std::string edge_;  // where the row began: forward its first key, backward the key behind its last one
};

}  // namespace varve::engine
