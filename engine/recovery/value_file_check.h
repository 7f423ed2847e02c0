// Owns: the deep check of a value file as a closed segment of the log.
// Must never: apply its commits.
#pragma once

#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/status.h"

namespace varve::engine {

/// Reads the whole file, and verifies every record. Errors: kCorruption, kUnsupported (both name file and offset),
/// kIoError, kOutOfMemory.
Status check_value_file(const io::Env& env, io::Directory& directory, const format::ValueFileEntry& entry);

}  // namespace varve::engine
