// Owns: space that is allocated past the end of an empty file, as headroom for operations that must work on a full
// device.
// Must never: give the file content, or lose the present space if more was requested and refused.
#pragma once

#include <cstdint>

#include "io/posix/posix_descriptor.h"

namespace varve::io {

/// See Directory::set_ballast(). If the file system cannot allocate space past the end of a file, no space is held and
/// the result is success: only the headroom is missing. To hold less space than before, all space is released and the
/// smaller amount is allocated again.
/// Errors: kNoSpace, kCorruption (not a regular file), those of os_error().
Status set_ballast_of(const FileAt& file, std::uint64_t bytes) noexcept;

}  // namespace varve::io
