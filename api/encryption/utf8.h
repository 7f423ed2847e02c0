// Owns: the check whether bytes are UTF-8.
// Must never: accept a text that the store would refuse. No later check sees a text once it is encrypted.
#pragma once

#include <string_view>

namespace varve {

/// Returns true for the shortest forms of all characters except surrogates, up to U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace varve
