// Owns: a walk over the live keys of a range at one version, whatever memtables and tables they lie in.
// Must never: show two versions of a key, a deleted key, or one above its version.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/entry_cursor.h"
#include "engine/memory/read_states.h"
#include "engine/read/dead_row.h"
#include "engine/read/external_values.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time. What it shows is valid until its next move. Commits may go on beside it: it shows none above
/// its version.
class Cursor {
 public:
  /// Walks [lower, upper) of `entries` at `version`; an empty `upper` is no bound. `pin` keeps alive what `entries`
  /// walks over, and what `values` brings. At first it is nowhere.
  Cursor(ReadStates::Pin pin, std::unique_ptr<EntryCursor> entries, std::string_view lower, std::string_view upper,
         CommitVersion version, ExternalValues values = ExternalValues());

  /// From now on it passes stretches that are known to hold nothing live and, if it sees all, tells of those that it
  /// finds. They outlive it.
  void know(DeadStretches& stretches, WalkSees sees) noexcept { row_ = DeadRow(stretches, version_, sees); }
  /// It tells of all that it finds, few keys or many.
  void tell_all() noexcept { row_.tell_all(); }
  /// It stops, as at an end, where a move has come across so many dead keys.
  void stop_after(std::uint64_t dead_keys) noexcept { dead_keys_max_ = dead_keys; }

  void seek_to_first();
  void seek_to_last();
  /// To the last key below `sort_key` (and below the range's upper bound).
  void seek_before(std::string_view sort_key);
  /// To the first key not below `sort_key` (and not below the range's lower bound).
  void seek(std::string_view sort_key);
  /// To the neighbouring key. valid() holds.
  void next();
  void previous();

  /// False before the first move, past either end, and after an error.
  bool valid() const noexcept { return valid_; }
  /// Why the walk ended: Ok at an end. Errors: kCorruption, kIoError, kOutOfMemory, kTooManyFiles.
  Status status() const { return failure_.ok() ? entries_->status() : failure_; }

  // Of the key the cursor is at; valid() holds.
  std::string_view key() const noexcept { return key_; }
  std::string_view value() const noexcept { return value_; }
  CommitVersion version() const noexcept { return shown_version_; }
  /// Entries looked at so far, dead ones included: what the walk cost.
  std::uint64_t entries_examined() const noexcept { return examined_; }

 private:
  /// What entries of the key in key_ are passed over.
  enum class Passing : std::uint8_t { kNothing, kTooNew, kHidden };
  /// From where the entries' cursor is, on to the first key to be shown.
  void settle_forward(Passing passing);
  /// From where the entries' cursor is, the last entry of its key, back to the first key to be shown.
  void settle_backward();
  // What is known to be dead is passed. A key given is not that of an entry at hand.
  void go_to(std::string_view sort_key);
  void go_before(std::string_view sort_key);
  /// Behind the stretch that holds this key; before the one right below it. False where none is known.
  bool pass_stretch(std::string_view sort_key);
  bool pass_stretch_backward(std::string_view sort_key);
  /// Of the key whose last entry the entries' cursor is at, what is to be shown, if anything; then to the last entry of
  /// the key before.
  bool take_backward();
  /// Past deletes that need not be read, the one given at least, whose key is in key_ then.
  bool pass_deletes_backward(const Entry& oldest);
  void show_forward(const Entry& entry);
  void show(const Entry& entry);
  void keep(const Entry& entry);
  bool bring(std::string_view pointer);

  ReadStates::Pin pin_;  // let go after entries_
  std::unique_ptr<EntryCursor> entries_;
  std::string lower_;
  std::string upper_;
  CommitVersion version_;
  ExternalValues values_;

  std::string key_;  // of the entry shown; while settling, of entries passed over
  std::string_view value_;
  std::string kept_value_;  // of a walk backward, whose entries' cursor is ahead of it
  bool kept_is_external_ = false;
  PinnedBlock brought_;  // a value from a value file
  Status failure_;       // of bringing one
  CommitVersion shown_version_ = 0;
  bool valid_ = false;
  bool backward_ = false;
  std::uint64_t examined_ = 0;
  DeadRow row_;
  std::uint64_t dead_keys_max_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace varve::engine
