// Owns: strings of bytes as OpenSSL takes and fills them.
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
