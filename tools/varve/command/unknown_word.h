// Owns: what a word of a command line that is no verb and no option probably meant.
// Must never: refuse a line that CLI11 accepts.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "varve/status.h"

namespace varve::tool {

/// Returns kInvalidArgument for a word that is no verb of `group`, with the nearest verb as the hint. `name` has the
/// words before it.
Status unknown_verb(const CLI::App& group, const std::string& name, const std::string& word);

/// Returns the fault of a line that CLI11 refused, if it is an unknown verb or option. Otherwise returns `refused`.
Status fault_of(const CLI::App& app, const std::vector<std::string>& words, const CLI::ParseError& refused);

}  // namespace varve::tool
