// Owns: opening a file that the store has written and must find.
// Must never: answer that it is not found, which callers take for the answer that a table or an entity is not there.
#pragma once

#include <memory>
#include <string_view>

#include "io/file_system.h"

namespace varve::engine {

/// Errors: kCorruption (it is missing); as io::Directory::open.
Result<std::unique_ptr<io::ReadableFile>> open_expected(io::Directory& directory, std::string_view name,
                                                        io::ReadMode mode);

}  // namespace varve::engine
