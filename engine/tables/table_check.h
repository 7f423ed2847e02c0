// Owns: the deep check of a live table file: every byte of it, and the manifest's word about it.
// Must never: stop at what the cache has; it reads the device.
#pragma once

#include <functional>
#include <string_view>

#include "engine/tables/table_file.h"
#include "varve/result.h"

namespace varve::engine {

/// Whether a value that an entry points to is the one it names.
using CheckValue = std::function<Status(std::string_view pointer)>;

/// Reads all of the file, and has each value checked that it points to. Errors: those of `check_value`; kCorruption,
/// kUnsupported (file and offset named), kIoError, kTooManyFiles, kOutOfMemory.
Status check_table(const TableFile& file, const CheckValue& check_value);

}  // namespace varve::engine
