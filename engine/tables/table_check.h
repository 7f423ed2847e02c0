// Owns: the deep check of a live table file: every byte of it, and the manifest's entry about it.
// Must never: use cached blocks in place of the device.
#pragma once

#include <functional>
#include <string_view>

#include "engine/tables/table_file.h"
#include "varve/result.h"

namespace varve::engine {

/// Checks that a value is the one that its entry refers to.
using CheckValue = std::function<Status(std::string_view pointer)>;

/// Reads the whole file, and checks each value that the file refers to. Errors: those of `check_value`; kCorruption,
/// kUnsupported (file and offset named), kIoError, kTooManyFiles, kOutOfMemory.
Status check_table(const TableFile& file, const CheckValue& check_value);

}  // namespace varve::engine
