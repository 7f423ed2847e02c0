// Owns: the literals of typed conditions (query_builder.h).
// Must never: change the value of a number.
#include "varve/query_builder.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace varve::mapped {

Value narrowest(Value value) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  if (const auto* const wide = value.get_if<std::int64_t>()) {
    if (*wide >= kMin && *wide <= kMax) return Value(static_cast<std::int32_t>(*wide));
  }
  if (const auto* const real = value.get_if<double>()) {
    if (*real >= kMin && *real <= kMax && std::trunc(*real) == *real) return Value(static_cast<std::int32_t>(*real));
  }
  return value;
}

}  // namespace varve::mapped
