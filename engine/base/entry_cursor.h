// Owns: the door to a walk over entries in the order of internal keys, be they in a memtable, a table or several.
// Must never: hide an entry: what a version may see is decided above.
#pragma once

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

/// Of a run: what the block is, how far behind the run's begin it stands, and what its readers see.
using ShowCachedBlock = std::function<void(format::BlockType, std::uint64_t, std::string_view)>;

/// A walk that goes forward only. One thread at a time.
class EntryStream {
 public:
  virtual ~EntryStream() = default;

  /// False past the end, and after an error.
  virtual bool valid() const noexcept = 0;
  /// valid() holds. The views are valid until the next move.
  virtual Entry entry() const noexcept = 0;
  /// valid() holds.
  virtual void next() = 0;
  /// Why the walk ended: Ok at an end. Errors: kCorruption, kUnsupported, kIoError, kOutOfMemory, kTooManyFiles.
  virtual Status status() const = 0;

  /// Where the value at hand stands in the log, if it is large and this walk knows. valid() holds.
  virtual LogPlace log_place() const noexcept { return LogPlace(); }
  /// Whether the entry at hand could be read without the disk. valid() holds.
  virtual bool is_in_memory() const noexcept { return false; }

  // A walk over tables for one who copies what nobody else touches:

  /// The run of which the walk is at the first entry, as it stands in its file, if no entry of another source or run
  /// comes between or is of the same key as one of its own; else nothing. Valid until the next move.
  virtual std::optional<format::RunSource> whole_run() const { return std::nullopt; }
  /// Shows which of that run's blocks are cached, until it is passed; whole_run() gave one.
  virtual void show_cached(const ShowCachedBlock& show) const { static_cast<void>(show); }
  /// Past the last entry of that run; whole_run() gave one.
  virtual void pass_run() {}
};

/// A walk that can be sent to any place. At first it is nowhere, and not valid.
class EntryCursor : public EntryStream {
 public:
  // A key given may be that of the entry at hand, which the move makes invalid.

  /// To the first entry that is not before (sort_key, at_most).
  virtual void seek(std::string_view sort_key, CommitVersion at_most) = 0;
  /// To the last entry whose sort key is below the one given; from there the walk goes backward.
  virtual void seek_before(std::string_view sort_key) = 0;
  /// To the last entry of all; from there the walk goes backward.
  virtual void seek_to_last() = 0;
  /// To the entry before the one at hand: older versions of a key come before newer ones. valid() holds, and the walk
  /// goes backward. Only a seek() makes it go forward again.
  virtual void previous() = 0;

  /// From now on the walk passes what the rule, which outlives it, says need not be read, where it is known without
  /// reading.
  virtual void pass_by(const PassRule& rule) { static_cast<void>(rule); }

  /// Where the walk is among deletes alone, past all of them that are known to be so without being read and end below
  /// `bound` (empty: no bound). False where nothing is known; then the walk has not moved.
  virtual bool pass_deletes(std::string_view bound) {
    static_cast<void>(bound);
    return false;
  }
  /// The same of a walk backward, past those that begin behind `bound`.
  virtual bool pass_deletes_backward(std::string_view bound) {
    static_cast<void>(bound);
    return false;
  }
};

}  // namespace varve::engine
