// Owns: the command line of the program as one tree of verbs, options and texts.
// Must never: run a verb. A parse of the tree does.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

namespace varve::tool {

/// Makes the whole command line: each verb with its options, description, and footer. The last paragraph of a footer
/// may be its examples, under the line "Examples". The chosen verb stores its exit code in `exit_code`, which must
/// outlive the tree.
std::unique_ptr<CLI::App> command_line(int& exit_code);

}  // namespace varve::tool
