// Owns: the copy of a segment in doubt.
// Must never: copy a record that does not verify, or change what it holds.
#pragma once

#include <cstdint>

#include "engine/manifest/file_set.h"
#include "engine/recovery/recovery.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Writes the groups of `source` one behind another into a new segment of this number, sealed and exactly as long as
/// they need. Their bytes are verified and re-stamped for the new place; marks that spoke of the old files are left
/// out. Watermarks are not copied: what they say, the new manifest says. Durable, but for its name. Errors: kNoSpace,
/// kIoError, kOutOfMemory; kCorruption (memory changed since `source` was read).
Result<LiveSegment> copy_segment(const io::Env& env, io::Directory& directory, const SegmentInDoubt& source,
                                 std::uint64_t number);

}  // namespace varve::engine
