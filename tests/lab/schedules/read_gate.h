// Owns: a file system whose reads wait before they start, if a test requires it.
// Must never: change the effect of a call. All other calls are passed on.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "io/file_system.h"

namespace varve::lab {

/// Called before each read of a file, on the reading thread.
using BeforeRead = std::function<void(std::string_view name)>;

/// `files` and `before_read` must outlive the result and everything that it opens.
std::unique_ptr<io::FileSystem> make_read_gate(io::FileSystem& files, const BeforeRead& before_read);

}  // namespace varve::lab
