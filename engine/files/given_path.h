// Owns: what is told of the path of a directory that a caller gave, when the system refuses it.
// Must never: be asked about a file of a store. That one is missing is no answer to a caller's question.
#pragma once

#include "api/status.h"

namespace varve::engine {

/// The status of a call that opens or makes the directory of a caller's path, under the code that is promised to
/// callers: kNotFound (a part of the path is missing), kInvalidArgument (a part is no directory, is too long, or is a
/// loop of links), kReadOnly (it cannot be made, since the file system is read-only). Every other stays as it is.
Status answer_for_path(const Status& status) noexcept;

}  // namespace varve::engine
