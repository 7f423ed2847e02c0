// Owns: text that does not compress well, so that rows with it fill blocks of their own.
// Must never: differ between two calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace varve::test {

inline std::string uneven_text(std::size_t size, std::uint32_t seed) {
  std::string text(size, '\0');
  std::uint32_t state = seed * 2'654'435'761U + 1;
  for (char& letter : text) {
    state = state * 1'664'525U + 1'013'904'223U;
    letter = static_cast<char>('0' + (state >> 26));  // 64 letters from '0' to 'o'
  }
  return text;
}

}  // namespace varve::test
