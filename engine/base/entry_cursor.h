// Owns: the interface of iterations over entries in the order of internal keys, in a memtable, a table or several of
// them.
// Must never: hide an entry. The layer above decides which versions a reader may see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/base/entry.h"
#include "engine/base/pass_rule.h"
#include "format/block/block.h"
#include "format/table/run_copy.h"
#include "varve/status.h"

namespace varve::engine {

/// Receives a cached block of a run: its type, its place from the start of the run, and its content.
using ShowCachedBlock = std::function<void(format::BlockType, format::BlockHandle, std::string_view)>;

/// An iteration that only moves forward. One thread at a time may use it.
class EntryStream {
 public:
  virtual ~EntryStream() = default;

  /// Returns false past the end, and after an error.
  virtual bool valid() const noexcept = 0;
  /// Returns the present entry. valid() must be true. The views are valid until the next move.
  virtual Entry entry() const noexcept = 0;
  /// Moves to the next entry. valid() must be true.
  virtual void next() = 0;
  /// Returns why the iteration ended: Ok at an end. Errors: kCorruption, kUnsupported, kIoError, kOutOfMemory,
  /// kTooManyFiles.
  virtual Status status() const = 0;

  /// Returns the place of the present value in the log, if it is large and the iteration knows the place. valid() must
  /// be true.
  virtual LogPlace log_place() const noexcept { return LogPlace(); }
  /// Returns whether the views of all entries stay valid as long as the iteration.
  virtual bool entries_stay() const noexcept { return false; }
  /// Returns whether the present entry could be read without the disk. valid() must be true.
  virtual bool is_in_memory() const noexcept { return false; }

  // The functions below serve a compaction that copies whole runs of tables:

  /// Returns the run of which the present entry is the first one, as stored in its file, or nothing. It returns nothing
  /// if an entry of another source or run lies between the run's entries or has a key of the run. Valid until the next
  /// move.
  virtual std::optional<format::RunSource> whole_run() const { return std::nullopt; }
  /// Shows which of that run's blocks are cached, until the run is skipped. whole_run() must have returned a run.
  virtual void show_cached(const ShowCachedBlock& show) const { static_cast<void>(show); }
  /// Moves past the last entry of that run. whole_run() must have returned a run.
  virtual void pass_run() {}
};

using ShowEntry = std::function<void(const Entry&)>;

/// A step to another key.
struct KeyStep {
  /// The entry after the step, as entry() returns it.
  Entry entry;
  /// The number of bytes that its key is known to share with the key before the step, at the start.
  std::size_t shared = 0;
};

/// An iteration that can move to any position. At first it has no position and is not valid.
class EntryCursor : public EntryStream {
 public:
  /// Limit of consecutive steps over entries of one key. Then a search skips the key's rest, at about the same cost. A
  /// key that is written all the time may have very many entries.
  static constexpr int kVersionStepsMax = 8;
  /// Below every assigned version, so that a search for it ends after all entries of its key.
  static constexpr CommitVersion kBelowAll = 0;

  // A given key may point into the present entry, which the move makes invalid.

  /// Moves to the first entry that is not before (sort_key, at_most).
  virtual void seek(std::string_view sort_key, CommitVersion at_most) = 0;
  /// Moves to the last entry whose sort key is below the given one. The iteration then moves backward.
  virtual void seek_before(std::string_view sort_key) = 0;
  /// Moves to the last entry of all. The iteration then moves backward.
  virtual void seek_to_last() = 0;
  /// Moves to the entry before the present one: older versions of a key come before newer ones. valid() must be true,
  /// and the iteration must move backward. Only seek() makes it move forward again.
  virtual void previous() = 0;

  // The moves below go on in the present direction, and move only the sources that are not at their place yet. They may
  // miss entries that were inserted since the last seek. `sort_key` must not point into the present entry.

  /// Moves past all entries of the present entry's key, which is `sort_key`. The iteration moves forward, and valid()
  /// must be true.
  virtual void pass_key(std::string_view sort_key) {
    for (int steps = 0; steps < kVersionStepsMax; ++steps) {
      next();
      if (!valid() || entry().sort_key != sort_key) return;
    }
    seek(sort_key, kBelowAll);
  }
  /// Does pass_key(), if the next key is at hand and so the move cannot fail. Otherwise does not move, and returns false.
  virtual bool step_to_next_key(KeyStep& step) {
    static_cast<void>(step);
    return false;
  }
  /// Moves as seek(). The iteration moves forward.
  virtual void seek_ahead(std::string_view sort_key, CommitVersion at_most) { seek(sort_key, at_most); }
  /// Moves before all entries of the present entry's key, which is `sort_key`. Shows on the way the key's newest entry
  /// that is not above `at_most`, if there is one. It may show older entries of the key first. Returns whether it
  /// showed one. The iteration moves backward, and valid() must be true.
  virtual bool show_newest(std::string_view sort_key, CommitVersion at_most, const ShowEntry& show) {
    bool is_shown = false;
    bool is_too_new = false;
    for (int steps = 0; steps < kVersionStepsMax; ++steps) {
      const Entry older = entry();
      is_too_new = older.version > at_most;
      if (!is_too_new) {
        show(older);
        is_shown = true;
      }
      previous();
      if (!valid() || entry().sort_key != sort_key) return is_shown;
    }
    if (!is_too_new) {
      seek(sort_key, at_most);
      if (!valid()) return is_shown;  // A failure: such an entry exists.
      show(entry());
    }
    seek_before(sort_key);
    return is_shown;
  }

  /// Makes the iteration skip entries that the rule need not read, if indexes show that. The rule must outlive the
  /// iteration.
  virtual void pass_by(const PassRule& rule) { static_cast<void>(rule); }

  /// If the iteration is among deletes, moves past all deletes that indexes describe as such and that end below `bound`
  /// (empty: no bound). If none are known, returns false and does not move.
  virtual bool pass_deletes(std::string_view bound) {
    static_cast<void>(bound);
    return false;
  }
  /// Does the same for a backward iteration, for deletes that begin above `bound`.
  virtual bool pass_deletes_backward(std::string_view bound) {
    static_cast<void>(bound);
    return false;
  }
};

}  // namespace varve::engine
