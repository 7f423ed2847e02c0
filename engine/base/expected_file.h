// Owns: opening a file that the store has written and that must exist.
// Must never: return kNotFound, which callers would report as a missing table or entity.
#pragma once

#include <memory>
#include <string_view>

#include "io/file_system.h"

namespace varve::engine {

/// Errors: kCorruption (the file is missing); those of io::Directory::open().
Result<std::unique_ptr<io::ReadableFile>> open_expected(io::Directory& directory, std::string_view name,
                                                        io::ReadMode mode);

}  // namespace varve::engine
