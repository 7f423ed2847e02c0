// Owns: making a hash of which every bit depends on every bit of a number.
// Must never: be stored; the result may differ in another version.
#pragma once

#include <cstdint>

namespace varve::tool {

inline std::uint64_t mixed_hash(std::uint64_t bits) noexcept {
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBU;
  return bits ^ bits >> 31;
}

}  // namespace varve::tool
