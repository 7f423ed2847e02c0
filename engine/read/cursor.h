// Owns: iterating over the live keys of a range at one version, across memtables and tables.
// Must never: return two versions of a key, a deleted key, an entity that has ended, or a version above its own.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/entry_cursor.h"
#include "engine/log/version_clock.h"
#include "engine/memory/read_states.h"
#include "engine/read/dead_row.h"
#include "engine/read/external_values.h"
#include "io/file.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time may use it. The returned views are valid until the next move. Commits may run concurrently: the
/// cursor returns none above its version.
class Cursor {
 public:
  /// Iterates over [lower, upper) of `entries` at `version`. An empty `upper` means no bound. `pin` keeps the memory of
  /// `entries` and `values` alive. A new cursor has no position.
  Cursor(ReadStates::Pin pin, std::unique_ptr<EntryCursor> entries, std::string_view lower, std::string_view upper,
         CommitVersion version, ExternalValues values = ExternalValues());

  /// Makes the cursor skip stretches that are known to contain no live key. If it sees all entries, it also reports the
  /// stretches that it finds. They must outlive it.
  void know(DeadStretches& stretches, WalkSees sees) noexcept { row_ = DeadRow(stretches, {version_, time_}, sees); }
  /// Makes the cursor pass entities that end at or before `time`, which is a time of `clock`. Called before know().
  void judge_ends(CommitVersion time, VersionClock& clock) noexcept {
    time_ = time;
    clock_ = &clock;
  }
  /// Makes each seek check this lease, which outlives the cursor. Null: there is nothing to check. `is_confirmed`: the file
  /// system confirmed the owner since the view was made; otherwise the first seek asks it.
  void answer_under(const io::Lease* lease, bool is_confirmed) noexcept {
    lease_ = lease;
    is_confirmed_ = is_confirmed;
  }
  /// Makes the cursor report every stretch that it finds, even of few keys.
  void tell_all() noexcept { row_.tell_all(); }
  /// Makes the cursor leave values in their value files, for iterations that need keys alone. value() is valid only if
  /// has_value().
  void leave_values() noexcept { brings_values_ = false; }
  /// Makes a move stop, as at an end, after this many dead keys.
  void stop_after(std::uint64_t dead_keys) noexcept { dead_keys_max_ = dead_keys; }
  /// Ends a move that stopped early: after the dead keys of stop_after(), or because the read might not wait
  /// (ReadCost). No key that the move has passed is examined again, except perhaps the last one.
  void go_on();

  void seek_to_first();
  void seek_to_last();
  /// Moves to the last key below `sort_key` (and below the range's upper bound).
  void seek_before(std::string_view sort_key);
  /// Moves to the first key not below `sort_key` (and not below the range's lower bound).
  void seek(std::string_view sort_key);
  /// Moves to the neighbouring key. valid() must be true.
  void next();
  void previous();

  /// Returns false before the first move, past either end, and after an error.
  bool valid() const noexcept { return valid_; }
  /// Returns why the iteration ended: Ok at an end. Errors: kCorruption, kIoError, kOutOfMemory, kTooManyFiles, those of
  /// io::Lease::check().
  Status status() const {
    if (!refused_.ok()) return refused_;
    return failure_.ok() ? entries_->status() : failure_;
  }
  /// Returns the key whose value could not be read, if that is why the iteration ended. A new cursor may go on after it.
  std::string_view unread_key() const noexcept { return failure_.ok() ? std::string_view() : std::string_view(key_); }
  /// Returns whether the last move ended because of stop_after().
  bool has_stopped() const noexcept { return has_stopped_; }

  // Return the parts of the present key's entry. valid() must be true.
  std::string_view key() const noexcept { return shown_.entry.sort_key; }
  std::string_view value() const noexcept { return shown_.entry.value; }
  CommitVersion version() const noexcept { return shown_.entry.version; }
  /// Returns the number of bytes that the key is known to share with the key returned before it, at the start.
  std::size_t shared() const noexcept { return shown_.shared; }
  /// Returns the time at which the entity ends; zero if it has no end.
  CommitVersion end() const noexcept { return shown_end_; }
  /// Returns false if the value lies in a value file, and the cursor left it there.
  bool has_value() const noexcept { return has_value_; }
  /// Returns the number of entries examined so far, dead ones included: the cost of the iteration.
  std::uint64_t entries_examined() const noexcept { return examined_; }

 private:
  /// Ends a seek that the lease does not allow.
  bool is_refused();
  /// Returns whether shown_ is the entry to return: a plain put inside the range and not above version_. It must be the first
  /// entry of its key.
  bool is_plain();
  /// Does next() without a step of the entries' cursor.
  void pass_shown();
  bool is_below_upper(std::string_view sort_key) noexcept;
  /// Moves forward from the present entry, the first one of its key, to the first key to be returned.
  /// `is_passed`: the move has nothing more to do at key_.
  void settle_forward(bool is_passed);
  /// Moves backward from the present entry, the last one of its key, to the first key to be returned.
  void settle_backward();
  // Move, and skip keys that are known to be dead. The given key must not point into the present entry.
  void go_to(std::string_view sort_key);
  void go_before(std::string_view sort_key);
  /// Moves past the stretch that contains this key, or before the stretch directly below it. Returns false if none is
  /// known.
  bool pass_stretch(std::string_view sort_key);
  bool pass_stretch_backward(std::string_view sort_key);
  /// Takes the live entry, if any, of the key whose last entry is the present one. Then moves to the last entry of the
  /// previous key.
  bool take_backward();
  /// Skips deletes without reading them, at least `oldest`, whose key is in key_ afterwards.
  bool pass_deletes_backward(const Entry& oldest);
  /// Stops a move before it takes this key, that of the present entry.
  void stop_at(std::string_view sort_key);
  /// Returns whether a reader sees the entry, which is not above version_ and not hidden: neither a delete nor an entity
  /// that has ended.
  bool is_live(const Entry& entry) const noexcept {
    return entry.kind == Kind::kPut || (entry.is_put() && !(entry.has_end() && has_ended(entry.end())));
  }
  bool has_ended(CommitVersion end) const noexcept;
  void show_forward(const Entry& entry);
  void show(const Entry& entry);
  void keep(const Entry& entry);
  /// Takes the value of the entry that will be returned. Returns false if the iteration failed.
  bool take_value(std::string_view value, bool is_external);
  bool bring(std::string_view pointer);

  ReadStates::Pin pin_;  // released after entries_
  std::unique_ptr<EntryCursor> entries_;
  std::string lower_;
  std::string upper_;
  CommitVersion version_;
  CommitVersion time_ = 0;         // of the view; zero: no entity that it sees has an end
  VersionClock* clock_ = nullptr;  // null while the time is zero
  ExternalValues values_;

  std::string key_;  // backward, of the returned entry; while settling, of skipped ones; before, where the move begins
  // The returned entry. Its key is in key_, or forward in the memory of the entries' cursor. Its value is value().
  KeyStep shown_;
  // The number of bytes that the shown key shares with upper_, in a walk forward. kUnknown: they were not compared.
  static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
  std::size_t shared_with_upper_ = kUnknown;
  std::string kept_value_;  // used backward, because the entries' cursor is already ahead
  bool kept_is_external_ = false;
  PinnedBlock brought_;  // a value from a value file
  Status failure_;       // of reading such a value
  const io::Lease* lease_ = nullptr;
  bool is_confirmed_ = false;
  Status refused_;  // by the lease
  CommitVersion shown_end_ = 0;
  bool valid_ = false;
  bool brings_values_ = true;
  bool has_value_ = false;  // of the returned entry
  bool backward_ = false;
  bool is_key_passed_ = false;  // A move that failed has nothing more to do at key_.
  bool has_stopped_ = false;
  std::uint64_t examined_ = 0;
  DeadRow row_;
  std::uint64_t dead_keys_max_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace varve::engine
