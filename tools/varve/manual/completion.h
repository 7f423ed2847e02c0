// Owns: the completions of the command line for bash, zsh and fish.
// Must never: run the program while a person types.
#pragma once

#include <string>

#include "tools/varve/manual/command.h"

namespace varve::tool {

std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);
std::string fish_completion(const Command& program);

}  // namespace varve::tool
