// Owns: a question to the person at the terminal.
// Must never: take the input of a pipe as an answer.
#pragma once

#include <string>

namespace varve::tool {

/// Returns whether there is a person to ask: standard input and standard error are a terminal.
bool can_ask() noexcept;
/// Asks, and returns whether the answer is yes. Every other answer is no.
bool asked_yes(const std::string& question);

}  // namespace varve::tool
