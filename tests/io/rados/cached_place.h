// Owns: places of objects, each with a content that follows from the place.
// Must never: have two places with one content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "tests/io/io_test_support.h"

namespace varve::io {

struct CachedPlace {
  std::string object;
  std::uint64_t offset = 0;
  std::size_t size = 0;
};

inline Bytes content_of(const CachedPlace& place) {
  std::mt19937_64 random(std::hash<std::string>()(place.object) ^ (place.offset * 131 + place.size));
  Bytes bytes(place.size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline CachedPlace place_of(std::uint64_t number, std::size_t size = 16 << 10) {
  return {"store/1-" + std::to_string(number / 64) + ".0", number % 64 * 65536, size};
}

}  // namespace varve::io
