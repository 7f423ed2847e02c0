// Owns: doing something in a process of its own, so that memory, processor time and a crash are one contender's alone.
// Must never: be called while this process has threads.
#pragma once

#include <functional>
#include <string>

#include "varve/result.h"

namespace varve::bench {

/// What `work` returned, in a child of this process. Errors: those of `work`; kIoError when the child ended otherwise.
Result<std::string> in_child_process(const std::function<Result<std::string>()>& work);

/// Does `work` in a child of this process, which SIGKILL then ends. Errors: those of `work`; kIoError when the child
/// ended otherwise.
Status in_killed_process(const std::function<Status()>& work);

}  // namespace varve::bench
