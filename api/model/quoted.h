// Owns: how a name or key of the caller appears in a message.
// Must never: put control characters, or more than one line, into a message.
#pragma once

#include <string>
#include <string_view>

namespace varve {

/// Returns the text in single quotes, cut after 64 bytes. Control characters and invalid bytes are written as \xHH.
std::string quoted(std::string_view text);
/// Returns the keys of a stored entity, each quoted.
std::string quoted_keys(std::string_view sort_key);

}  // namespace varve
