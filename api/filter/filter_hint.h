// Owns: what a person who wrote a wrong `$filter` probably meant.
// Must never: decide whether a filter is valid.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace varve {

/// Returns what to write instead of the text at `offset`, in bytes. Empty if nothing is known.
std::string filter_hint(std::string_view filter, std::size_t offset);

/// Returns what to write instead of a word that was compared like a literal. Empty if nothing is known.
std::string literal_hint(std::string_view word);

}  // namespace varve
