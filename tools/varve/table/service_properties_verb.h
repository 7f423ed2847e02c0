// Owns: `varve account properties`.
// Must never: change a property that the line does not name.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

void add_service_properties_verb(CLI::App& group, int& exit_code);

}  // namespace varve::tool
