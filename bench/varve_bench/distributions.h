// Owns: which entity an operation goes to, as YCSB defines it: zipfian, scrambled, latest.
// Must never: depend on anything but the numbers drawn.
//
// After Gray et al., "Quickly generating billion-record synthetic databases" (1994), with YCSB's constant of 0.99.
#pragma once

#include <cstdint>

#include "bench/varve_bench/entities.h"

namespace varve::bench {

/// Numbers below `items`, of which zero is drawn most often, then one, and so on.
class Zipfian {
 public:
  explicit Zipfian(std::uint64_t items);
  std::uint64_t draw(Random& random) const noexcept;
  /// The share of all draws that a number gets.
  double share_of(std::uint64_t number) const noexcept;

 private:
  Zipfian(std::uint64_t items, double zeta);
  friend class ScrambledZipfian;
  double items_;
  double zeta_;
  double alpha_;
  double eta_;
};

/// The same popularity, but the popular ones lie anywhere among the numbers below `items`: YCSB draws from ten
/// thousand million and hashes, whatever the number of records.
class ScrambledZipfian {
 public:
  explicit ScrambledZipfian(std::uint64_t items);
  std::uint64_t draw(Random& random) const noexcept;

 private:
  std::uint64_t items_;
  Zipfian zipfian_;
};

/// FNV-1 of the eight bytes, without its sign, as YCSB makes keys.
std::uint64_t fnv_hash(std::uint64_t number) noexcept;

/// From zero up to one.
double unit_interval(Random& random) noexcept;

}  // namespace varve::bench
