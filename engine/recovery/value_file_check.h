// Owns: the deep check of a value file, as what it was: a closed segment of the log.
// Must never: do anything with the commits in it.
#pragma once

#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/status.h"

namespace varve::engine {

/// Reads all of it, and verifies every record. Errors: kCorruption, kUnsupported (both name file and offset), kIoError,
/// kOutOfMemory.
Status check_value_file(const io::Env& env, io::Directory& directory, const format::ValueFileEntry& entry);

}  // namespace varve::engine
