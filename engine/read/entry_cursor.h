// Owns: the door to a walk over entries in the order of internal keys, be they in a memtable, a table or several.
// Must never: hide an entry: what a version may see is decided above.
#pragma once

#include <string_view>

#include "api/status.h"
#include "engine/entry.h"

namespace varve::engine {

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
};

/// A walk that can be sent to any place. At first it is nowhere, and not valid.
class EntryCursor : public EntryStream {
 public:
  // A key given may be that of the entry at hand, which the move makes invalid.

  /// To the first entry that is not before (sort_key, at_most).
  virtual void seek(std::string_view sort_key, CommitVersion at_most) = 0;
  /// To the last entry whose sort key is below the one given.
  virtual void seek_before(std::string_view sort_key) = 0;
  virtual void seek_to_last() = 0;
};

}  // namespace varve::engine
