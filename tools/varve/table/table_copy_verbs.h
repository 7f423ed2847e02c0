// Owns: the verbs `varve table copy` and `varve table rename`.
// Must never: copy an entity itself.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

/// Adds the verbs to the group `table`.
void add_table_copy_verbs(CLI::App& group, int& exit_code);

}  // namespace varve::tool
