// Owns: the end of the program: exit codes, and the one line that gives the reason.
// Must never: print a success, or end the process itself.
#pragma once

#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::tool {

enum ExitCode : int {
  kSuccess = 0,
  kRefused = 1,       // the store refused: not found, exists, ETag differs, a bad value or row
  kUsage = 2,         // the command line was not understood
  kDamaged = 3,       // the store does not verify
  kMachine = 4,       // no space, no permission, an I/O error, the store is in use or busy
  kReaderGone = 141,  // the reader of standard output is gone; a shell's code for SIGPIPE
};

ExitCode exit_code_of(const Status& status) noexcept;

/// Sets the store's name for hints.
void name_store_in_hints(const std::string& store);

/// Returns what can be done about a failure, or an empty text.
std::string hint_of(const Status& status);

/// From now on, a failure is one JSON object on standard error: code, message, hint, exit.
void set_errors_as_json() noexcept;

/// Prints a hint on standard error that is no failure, such as a better way to ask.
void print_hint(std::string_view hint);

/// Prints "varve: what happened" on standard error, with a hint if there is one. Returns the exit code.
ExitCode fail(const Status& status);
ExitCode fail(ExitCode code, std::string_view what);
/// As fail(), with this exit code, and the message of the status without its code.
ExitCode fail(ExitCode code, const Status& status);

/// Reports a failure of standard output. If the reader is gone, as with `| head`, it prints nothing and returns
/// kReaderGone.
ExitCode fail_output(std::string_view what);

/// Ends the verb that verifies. It has reported the damage already, so this prints only how to proceed.
ExitCode fail_verification();
/// Reports damage that prevents verification.
ExitCode fail_verification(const Status& status);

}  // namespace varve::tool
