// Owns: the description of one compaction (its inputs, its output level and its reason), and the rule for which two may
// run at once.
// Must never: perform a compaction.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/entry_cursor.h"
#include "engine/levels/levels.h"

namespace varve::engine {

enum class JobKind : std::uint8_t {
  kUnlink,  // one edit removes the inputs; nothing is read or written
  kMove,    // one edit changes the inputs' level; nothing is read or written
  kMerge,   // inputs and overlapped files are read; one edit replaces them by new files of output_level
};

enum class JobReason : std::uint8_t {
  kDead,        // the files contain only dead tables, or tombstones that hide nothing
  kLevel0,      // level 0 has too many flushes
  kLevelSize,   // a level is above its target
  kTombstones,  // a file is mostly tombstones
  kDeadBytes,   // a file is mostly dead tables
  kValueSpace,  // a file points into value files that have mostly unreferenced values
  kIdle,        // no other work is pending
  kLoaded,      // entries were loaded
};

/// Entries of one table that a merge has besides its files. The caller who wants the merge keeps alive what the streams use.
struct LoadedEntries {
  /// Bounds of the keys, inclusive.
  /// @{
  std::string smallest;
  std::string largest;
  /// @}
  TableId table = 0;
  std::uint64_t bytes = 0;
  /// Empty once the merge has begun to read. From then on only that merge uses them.
  std::vector<std::unique_ptr<EntryStream>> streams;
  /// Ends the merge with kCancelled, unless it is done. Any thread may set it.
  std::atomic<bool> is_stopped{false};
};

struct Job {
  JobKind kind = JobKind::kMerge;
  JobReason reason = JobReason::kLevelSize;
  /// The level of the inputs. For unlinked files, which may be from any level, it has no meaning.
  std::uint32_t level = 0;
  /// At least `level`. Equal to it if a file is rewritten in place.
  std::uint32_t output_level = 0;
  /// Never empty, except in a merge of loaded entries. In the order of their level.
  LevelFiles inputs;
  /// All files of output_level that overlap the inputs, by key. Empty except for a merge.
  LevelFiles overlapped;
  /// Null if there are none. With them, the job merges in the last level.
  std::shared_ptr<LoadedEntries> loaded{};

  /// Returns the range from the smallest to the largest key of all its files and loaded entries, as a view into them.
  KeyRange range() const noexcept;
  bool takes(std::uint64_t file_number) const noexcept;
  /// Returns whether the job makes one file of several files of level 0.
  bool joins_level0() const noexcept { return kind == JobKind::kMerge && output_level == 0 && inputs.size() > 1; }
};

/// Returns whether the two jobs must not run at once: they share a file, or one writes files into levels and keys that
/// the other reads or writes.
bool conflict(const Job& one, const Job& other) noexcept;

}  // namespace varve::engine
