// Owns: VARVE_STORE: the store of a line that names none.
// Must never: choose between two stores. A line that can mean either is refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "varve/result.h"

namespace varve::tool {

/// Makes a command line whose verbs are not run.
using MakeCommandLine = std::unique_ptr<CLI::App> (*)(int& exit_code);

/// Returns the words with the store of VARVE_STORE in the place of STORE, if the variable is set and the line lacks
/// STORE. The rule: the line lacks STORE if it is complete with the variable's store, and the word for TABLE or ACCOUNT
/// is none of a directory (it has no `/` and no `.`). Only verbs whose STORE names the variable (Option::envname) take
/// it. Errors: kInvalidArgument, if such a word is also the name of a directory with a store.
Result<std::vector<std::string>> with_store_of_environment(std::vector<std::string> words, MakeCommandLine make);

}  // namespace varve::tool
