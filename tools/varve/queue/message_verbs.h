// Owns: the verbs on messages: put, get, peek, delete, update.
// Must never: delete a message that was not printed.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

/// Adds the verbs to the group `queue`. The chosen verb stores its exit code in `exit_code`.
void add_message_verbs(CLI::App& group, int& exit_code);

}  // namespace varve::tool
