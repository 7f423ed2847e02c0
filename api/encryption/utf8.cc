// Owns: the check of the bytes. The core has its own check, which is not public.
#include "api/encryption/utf8.h"

#include <cstddef>
#include <cstdint>

namespace varve {
namespace {

/// Returns the length of the character at the front in bytes, or 0 if it is invalid.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto first = static_cast<std::uint8_t>(text.front());
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  std::uint32_t code = first & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3Fu);
  }
  if (size == 3 && (code < 0x800 || (code >= 0xD800 && code <= 0xDFFF))) return 0;
  if (size == 4 && (code < 0x10000 || code > 0x10FFFF)) return 0;
  return size;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = character_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace varve
