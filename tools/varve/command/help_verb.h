// Owns: `varve help [VERB...]`.
// Must never: print another text than --help.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

/// Adds the verb `help`, which explains the verbs of `app`.
void add_help_verb(CLI::App& app, int& exit_code);

}  // namespace varve::tool
