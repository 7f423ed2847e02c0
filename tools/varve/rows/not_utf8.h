// Owns: the error for a row that is no UTF-8, with the remedy.
// Must never: guess an encoding.
#pragma once

#include <cstdint>
#include <string_view>

#include "varve/status.h"

namespace varve::tool {

/// The number by which rows that are no UTF-8 are reported together (Row::shape_fault).
constexpr std::uint64_t kUtf8ShapeFault = std::uint64_t{1} << 63;

/// Returns the error for a text that is no UTF-8.
Status not_utf8(std::string_view text);

}  // namespace varve::tool
