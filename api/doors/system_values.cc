// Owns: the values that come from the machine: the present time and random Guids.
// Must never: serve a store. A store has the clock and the random numbers of its io::Env, which tests replace.
#include <cstdint>

#include "io/env.h"
#include "varve/types.h"

namespace varve {

DateTime DateTime::now() noexcept {
  return DateTime{io::system_env().clock.wall()};
}

Guid Guid::random() noexcept {
  Guid guid;
  for (std::size_t word = 0; word < guid.bytes.size(); word += sizeof(std::uint64_t)) {
    std::uint64_t number = io::system_env().random.next();
    for (std::size_t i = 0; i < sizeof(number); ++i, number >>= 8)
      guid.bytes[word + i] = static_cast<std::uint8_t>(number);
  }
  // The version (4) and the variant of a random Guid.
  guid.bytes[6] = static_cast<std::uint8_t>((guid.bytes[6] & 0x0F) | 0x40);
  guid.bytes[8] = static_cast<std::uint8_t>((guid.bytes[8] & 0x3F) | 0x80);
  return guid;
}

}  // namespace varve
