// Owns: running work in a separate process, so that memory, processor time and a crash belong to one contender alone.
// Must never: be called while this process has threads.
#pragma once

#include <functional>
#include <string>

#include "varve/result.h"

namespace varve::bench {

/// Runs `work` in a child process and returns its result. Errors: those of `work`; kIoError if the child ended in
/// another way.
Result<std::string> in_child_process(const std::function<Result<std::string>()>& work);

/// Runs `work` in a child process, which is then ended by SIGKILL. Errors: those of `work`; kIoError if the child ended
/// in another way.
Status in_killed_process(const std::function<Status()>& work);

}  // namespace varve::bench
