// Owns: a file system whose reads wait before they are made, when a test says so.
// Must never: change what a call means: all else is passed on.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "io/file_system.h"

namespace varve::lab {

/// Called before each read of a file, on the thread that makes it.
using BeforeRead = std::function<void(std::string_view name)>;

/// `files` outlives it and all that is opened by it, and so does `before_read`.
std::unique_ptr<io::FileSystem> make_read_gate(io::FileSystem& files, const BeforeRead& before_read);

}  // namespace varve::lab
