// Owns: the options that every verb has, and those whose effect begins before a line is understood.
// Must never: change what a verb does.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace varve::tool {

/// Adds --color and --no-pager to each verb of the tree.
void add_common_words(CLI::App& app);

/// Applies --color, --no-pager and --json of a line that may be wrong, so that its errors have the right form.
void apply_common_words(const std::vector<std::string>& words);

}  // namespace varve::tool
