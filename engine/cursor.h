// Owns: a walk over the live keys of a range at one version, whatever memtables and tables they lie in.
// Must never: show two versions of a key, a deleted key, or one above its version.
#pragma once

#include <string>
#include <string_view>

#include "api/result.h"
#include "engine/commit/memtable.h"

namespace varve::engine {

/// One thread at a time. Views it hands out are valid as long as the memtable. Commits may go on beside it: it shows
/// none above its version.
class Cursor {
 public:
  /// Walks [lower, upper) of `memtable` at `version`; an empty `upper` is no bound. At first it is nowhere.
  Cursor(const Memtable& memtable, std::string_view lower, std::string_view upper, CommitVersion version);

  void seek_to_first();
  void seek_to_last();
  /// To the first key not below `sort_key` (and not below the range's lower bound).
  void seek(std::string_view sort_key);
  /// To the neighbouring key. valid() holds.
  void next();
  void previous();

  /// False before the first move, past either end, and after an error.
  bool valid() const noexcept { return valid_; }
  /// Why the walk ended: Ok at an end. Errors: kCorruption, kIoError.
  const Status& status() const noexcept { return status_; }

  // Of the key the cursor is at; valid() holds.
  std::string_view key() const noexcept { return entry_.sort_key; }
  std::string_view value() const noexcept { return entry_.value; }
  CommitVersion version() const noexcept { return entry_.version; }
  /// Entries looked at so far, dead ones included: what the walk cost.
  std::uint64_t entries_examined() const noexcept { return examined_; }

 private:
  /// From where the memtable's cursor is, on to the first key to be shown. Entries of the key `done` are passed over.
  void settle_forward(std::string_view done);
  /// From where the memtable's cursor is, the last entry of its key, back to the first key to be shown.
  void settle_backward();
  void show(const MemtableEntry& entry) noexcept;

  Memtable::Cursor cursor_;
  std::string lower_;
  std::string upper_;
  CommitVersion version_;
  MemtableEntry entry_;
  bool valid_ = false;
  Status status_;
  std::uint64_t examined_ = 0;
};

}  // namespace varve::engine
