// Owns: the time up to which the ends of entities have passed for every reader.
// Must never: return a time that a later reader could be below.
#pragma once

#include "engine/base/snapshots.h"
#include "engine/commit/commit_queue.h"
#include "engine/manifest/file_set.h"
#include "format/log/manifest_edit.h"
#include "format/log/root.h"

namespace varve::engine {

/// Returns the time up to which ends have passed for every snapshot, and for every reader that begins later. Returns
/// zero if no entity of the store has an end.
inline CommitVersion ended_for_all(const FileSet& files, const Snapshots& snapshots, CommitQueue& queue) {
  if ((files.features.incompatible & format::kExpiryFeature) == 0) return 0;
  return snapshots.ended_for_all([&queue] {
    const CommitVersion time = queue.time();
    queue.pass(time);  // Readers that begin later are at or above it.
    return time;
  });
}

/// Notes in the edit of files from which entities that had ended by `ended_for_all` are removed, that no reader is below that
/// time, also after a crash.
inline void raise_ceiling(CommitVersion ended_for_all, format::ManifestEdit& edit) noexcept {
  if (ended_for_all > 0) edit.version_ceiling = ended_for_all;
}

}  // namespace varve::engine
