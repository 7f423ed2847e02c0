// Owns: space held behind the end of an empty file, as headroom for what must work on a full device.
// Must never: give the file content, or lose space held when more was asked for and refused.
#pragma once

#include <cstdint>

#include "io/posix/posix_descriptor.h"

namespace varve::io {

/// See Directory::set_ballast. A file system that cannot hold space behind the end of a file holds none, with success:
/// the headroom is then missing and nothing else. To hold less than before, all is given up and the rest taken anew.
/// Errors: kNoSpace, kCorruption (not a regular file), by os_error.
Status set_ballast_of(const FileAt& file, std::uint64_t bytes) noexcept;

}  // namespace varve::io
