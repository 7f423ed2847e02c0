// Owns: the verb `table policies`: the access policies of a table.
// Must never: change a policy that the line does not name.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

void add_table_policies_verb(CLI::App& group, int& exit_code);

}  // namespace varve::tool
