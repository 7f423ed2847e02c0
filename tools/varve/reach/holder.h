// Owns: finding the process that has a store open, for messages.
// Must never: decide anything. The lock decides, and the system's list of locks may be incomplete.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

namespace varve::tool {

struct Holder {
  pid_t process = 0;
  /// The name of its program, or empty if it cannot be read.
  std::string program;
};

/// Returns the process that has locked the directory, if the system shows it to this process.
std::optional<Holder> find_holder(const std::string& store);

}  // namespace varve::tool
