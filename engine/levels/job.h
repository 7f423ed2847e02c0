// Owns: what one compaction takes, where it puts it and why, and which two of them may not run side by side.
// Must never: do any of it.
#pragma once

#include <cstdint>

#include "engine/levels/levels.h"

namespace varve::engine {

enum class JobKind : std::uint8_t {
  kUnlink,  // the inputs leave by one edit; nothing is read or written
  kMove,    // the inputs change their level by one edit; nothing is read or written
  kMerge,   // inputs and overlapped files are read, and new files of output_level take their place by one edit
};

enum class JobReason : std::uint8_t {
  kDead,        // all that the files hold is in dead tables, or is tombstones with nothing beneath
  kLevel0,      // level 0 has too many files
  kLevelSize,   // a level is above its target
  kTombstones,  // a file is mostly tombstones
  kDeadBytes,   // a file is mostly dead tables
  kValueSpace,  // a file points into value files that are mostly pointed to by nobody
  kIdle,        // nothing else is to be done
};

struct Job {
  JobKind kind = JobKind::kMerge;
  JobReason reason = JobReason::kLevelSize;
  /// Of the inputs; of unlinked files, which may be of any, it says nothing.
  std::uint32_t level = 0;
  /// At least `level`. The same where a file is rewritten in place.
  std::uint32_t output_level = 0;
  /// Never empty, in the order of their level.
  LevelFiles inputs;
  /// All files of output_level that overlap the inputs, by key; empty unless a merge.
  LevelFiles overlapped;

  /// From the smallest to the largest key of all its files. A view into them.
  KeyRange range() const noexcept;
  bool takes(std::uint64_t file_number) const noexcept;
};

/// Whether the two may not run side by side: they share a file, or one puts files where the other takes or puts some.
bool conflict(const Job& one, const Job& other) noexcept;

}  // namespace varve::engine
