// Owns: the copy of a segment in doubt.
// Must never: copy a record that does not verify, or change a record's payload.
#pragma once

#include <cstdint>

#include "engine/manifest/file_set.h"
#include "engine/recovery/recovery.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Writes the groups of `source` without gaps into a new, sealed segment with this number and exactly the needed size.
/// Their bytes are verified and re-stamped for the new place. Marks that refer to the old files are omitted. Watermarks
/// are not copied, because the new manifest contains their information. The segment is durable, except for its name.
/// Errors: kNoSpace, kIoError, kOutOfMemory; kCorruption (memory changed since `source` was read).
Result<LiveSegment> copy_segment(const io::Env& env, io::Directory& directory, const SegmentInDoubt& source,
                                 std::uint64_t number);

}  // namespace varve::engine
