// Owns: the verb `varve table describe`.
// Must never: write to the store.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

/// Adds the verb to the group `table`.
void add_table_describe_verb(CLI::App& group, int& exit_code);

}  // namespace varve::tool
