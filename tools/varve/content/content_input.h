// Owns: reading a file as one content, to its end.
// Must never: hold a whole file in memory, or take a part of a file for all of it.
#pragma once

#include <functional>
#include <string_view>

#include "tools/varve/input/file_input.h"
#include "varve/status.h"

namespace varve::tool {

/// Reads the input to its end, and passes its bytes to `take`, piece by piece. Errors: kCancelled (a signal;
/// FileInput::stop_signal() has its number), that of the input, those of `take`.
Status read_content(FileInput& input, bool shows_progress, const std::function<Status(std::string_view piece)>& take);

}  // namespace varve::tool
