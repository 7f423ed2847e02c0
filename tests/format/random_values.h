// Owns: values for property tests, made from one printed seed.
// Must never: use another source than its seed. One seed gives the same values on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace varve::format {

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : engine_(seed) {}

  /// Returns a number below `bound`, which is not zero.
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  /// Returns a number of any magnitude: small numbers are as frequent as large ones.
  std::uint64_t number() { return engine_() >> below(64); }
  std::string bytes(std::size_t size) {
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(engine_());
    return text;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace varve::format
