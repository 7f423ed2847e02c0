// Owns: how a name or key of the caller's stands in a message.
// Must never: put control characters, or more than a line, into a message.
#pragma once

#include <string>
#include <string_view>

namespace varve {

/// The text between single quotes; control characters and stray bytes as \xHH; cut after 64 bytes.
std::string quoted(std::string_view text);
/// The keys of a stored entity, each quoted.
std::string quoted_keys(std::string_view sort_key);

}  // namespace varve
