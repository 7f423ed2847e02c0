// Owns: `varve table drop`: dropping a table, and waiting until its space is back.
// Must never: report space as free that the store still has.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

void add_table_drop_verb(CLI::App& group, int& exit_code);

}  // namespace varve::tool
