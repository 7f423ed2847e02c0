// Owns: the deep check of a live table file: every byte of it, and the manifest's word about it.
// Must never: stop at what the cache has; it reads the device.
#pragma once

#include "api/result.h"
#include "engine/tables/table_file.h"

namespace varve::engine {

/// Reads all of the file. Errors: kCorruption, kUnsupported (file and offset named), kIoError, kTooManyFiles,
/// kOutOfMemory.
Status check_table(const TableFile& file);

}  // namespace varve::engine
