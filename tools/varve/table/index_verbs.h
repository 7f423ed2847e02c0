// Owns: `varve index`: creating, listing and dropping indexes of a table.
// Must never: report an index as ready that is being built.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

void add_index_verbs(CLI::App& app, int& exit_code);

}  // namespace varve::tool
