// Owns: finding the option that a misspelt name means.
// Must never: guess if no name is close.
#pragma once

#include <string>
#include <string_view>

namespace varve::serve {

/// Returns the name of the option that is closest to `name`, or an empty text if none is close. Case does not count,
/// and `_` counts as `-`.
std::string nearest_option(std::string_view name);

}  // namespace varve::serve
