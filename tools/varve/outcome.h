// Owns: how the program ends: exit codes, and the one line that says why.
// Must never: print a success, or end the process itself.
#pragma once

#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::tool {

enum ExitCode : int {
  kSuccess = 0,
  kRefused = 1,       // the store said no: not found, exists, ETag differs, a bad value or row
  kUsage = 2,         // the command line was not understood
  kDamaged = 3,       // the store does not verify
  kMachine = 4,       // no space, no permission, an I/O error, the store is in use
  kReaderGone = 141,  // nobody reads standard output any more; as a shell has it for SIGPIPE
};

ExitCode exit_code_of(const Status& status) noexcept;

/// The store that hints name from now on.
void name_store_in_hints(const std::string& store);

/// "varve: what happened" on standard error, with a hint where there is one; returns the exit code.
ExitCode fail(const Status& status);
ExitCode fail(ExitCode code, std::string_view what);

/// Standard output failed: kReaderGone, without a word, where its reader went away, as `| head` does.
ExitCode fail_output(std::string_view what);

/// The end of the verb that looks for damage, and has told it: only what to do about it.
ExitCode fail_verification();
/// Where the damage left it nothing to look at.
ExitCode fail_verification(const Status& status);

}  // namespace varve::tool
