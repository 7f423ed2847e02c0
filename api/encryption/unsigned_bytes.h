// Owns: access to the bytes of a string in the type that OpenSSL takes and fills.
// Must never: outlive the string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace varve {

inline const std::uint8_t* unsigned_bytes(std::string_view text) noexcept {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}
inline std::uint8_t* unsigned_bytes(std::string& text) noexcept {
  return reinterpret_cast<std::uint8_t*>(text.data());
}

}  // namespace varve
