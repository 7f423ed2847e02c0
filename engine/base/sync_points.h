// Owns: the names of all places that make something durable.
// Must never: omit a place. A test removes each in turn and must fail.
#pragma once

#include "io/file.h"

namespace varve::engine::sync_points {

inline constexpr io::SyncPoint kStoreDirectory{"store directory"};    // the store's name in its parent
inline constexpr io::SyncPoint kSegmentHeader{"log segment header"};  // the first sector of a segment
inline constexpr io::SyncPoint kSegmentNames{"log segment names"};    // the directory, before a segment is announced
inline constexpr io::SyncPoint kLogGroup{"log group commit"};         // acknowledges a commit
inline constexpr io::SyncPoint kLogBuffer{"log buffer write"};        // buffered commits reach the device
inline constexpr io::SyncPoint kLogWatermark{"log watermark"};        // an idle log marks its end
inline constexpr io::SyncPoint kLogFooter{"log segment footer"};      // before the next segment's first record
inline constexpr io::SyncPoint kLogCut{"log segment cut"};            // the sealed segment's size
inline constexpr io::SyncPoint kRecoveredLog{"recovered log"};        // the copy of the segment in doubt
inline constexpr io::SyncPoint kTable{"table file"};                  // a table's bytes
inline constexpr io::SyncPoint kTableNames{"table names"};            // the directory, before the manifest names them
inline constexpr io::SyncPoint kManifestCreate{"manifest create"};    // a fresh manifest's bytes
inline constexpr io::SyncPoint kManifestNames{"manifest names"};      // the directory, before CURRENT names it
inline constexpr io::SyncPoint kManifestAppend{"manifest append"};    // one edit
inline constexpr io::SyncPoint kRoot{"root"};                         // CURRENT and its name
inline constexpr io::SyncPoint kCheckpointCopy{"checkpoint copy"};    // a file that could not be linked
inline constexpr io::SyncPoint kCheckpointNames{"checkpoint names"};  // its directory, before CURRENT leads to them
inline constexpr io::SyncPoint kWarmList{"warm list"};                // WARM and its name
inline constexpr io::SyncPoint kRemovedNames{"removed names"};        // the directory, after files were removed

}  // namespace varve::engine::sync_points
