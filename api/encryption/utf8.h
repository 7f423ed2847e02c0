// Owns: whether bytes are UTF-8.
// Must never: take what the store would refuse: a text that was encrypted is seen by no other check.
#pragma once

#include <string_view>

namespace varve {

/// Shortest forms of all characters but surrogates, up to U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace varve
