// Owns: reading files that hold keys.
// Must never: take a key that everybody on the machine can read or replace.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

/// The content of what `what` ("the private key") names at `path`. Errors: kInvalidArgument: it is not there, cannot be
/// read, is too large to be one, or is open to everybody; the message names path and remedy.
Result<std::string> read_secret_file(std::string_view what, const std::string& path);
/// As above, of what everybody may read.
Result<std::string> read_public_file(std::string_view what, const std::string& path);

}  // namespace varve::serve
