// Owns: the verbs on containers: create, list, show, policies, drop, lease.
// Must never: create a container as a side effect. Only `create` does, and it reports if the name existed.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

/// Adds the group `container`. The chosen verb stores its exit code in `exit_code`.
void add_container_verbs(CLI::App& app, int& exit_code);

}  // namespace varve::tool
