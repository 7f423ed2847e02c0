// Owns: what is told of the path of a directory that a caller gave, when the system refuses it.
// Must never: tell a missing file of a store as an answer to a caller's question.
#pragma once

#include "varve/status.h"

namespace varve::engine {

/// The status of a call that opens or makes the directory of a caller's path, under the code that is promised to
/// callers: kNotFound (a part of the path is missing), kInvalidArgument (a part is no directory, is too long, or is a
/// loop of links), kReadOnly (it cannot be made, since the file system is read-only). Every other stays as it is.
Status answer_for_path(const Status& status) noexcept;

/// The status of a call on a file inside the directory, while the store is opened: kReadOnly where a writer meets a
/// read-only file system. Every other stays as it is.
Status answer_for_writer(const Status& status) noexcept;

}  // namespace varve::engine
