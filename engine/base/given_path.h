// Owns: the errors for a directory path given by a caller, if the system refuses it.
// Must never: report a missing file of a store as an answer to a caller's question.
#pragma once

#include "varve/status.h"

namespace varve::engine {

/// Returns the status of a call that opens or creates the caller's directory, with the documented code: kNotFound (a
/// part of the path is missing), kInvalidArgument (a part is not a directory, is too long, or is a loop of links),
/// kReadOnly (it cannot be created on a read-only file system). Every other status is unchanged.
Status answer_for_path(const Status& status) noexcept;

/// Returns the status of a call on a file inside the directory while the store is being opened. If a writer meets a
/// read-only file system, the code becomes kReadOnly. Every other status is unchanged.
Status answer_for_writer(const Status& status) noexcept;

}  // namespace varve::engine
