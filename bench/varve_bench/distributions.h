// Owns: choosing the entity of an operation in the way of YCSB: zipfian, scrambled, latest.
// Must never: depend on anything except the random numbers.
//
// After Gray et al., "Quickly generating billion-record synthetic databases" (1994), with YCSB's constant of 0.99.
#pragma once

#include <cstdint>

#include "bench/varve_bench/entities.h"

namespace varve::bench {

/// Draws numbers below `items`. Zero is drawn most often, then one, and so on.
class Zipfian {
 public:
  explicit Zipfian(std::uint64_t items);
  std::uint64_t draw(Random& random) const noexcept;
  /// Returns a number's share of all draws.
  double share_of(std::uint64_t number) const noexcept;

 private:
  Zipfian(std::uint64_t items, double zeta);
  friend class ScrambledZipfian;
  double items_;
  double zeta_;
  double alpha_;
  double eta_;
};

/// Has the same popularity, but the popular numbers are scattered below `items`. Like YCSB, it draws from ten thousand
/// million numbers and hashes, whatever the number of records.
class ScrambledZipfian {
 public:
  explicit ScrambledZipfian(std::uint64_t items);
  std::uint64_t draw(Random& random) const noexcept;

 private:
  std::uint64_t items_;
  Zipfian zipfian_;
};

/// Returns FNV-1 of the eight bytes without its sign, as YCSB makes keys.
std::uint64_t fnv_hash(std::uint64_t number) noexcept;

/// Returns a number from zero up to, but not including, one.
double unit_interval(Random& random) noexcept;

}  // namespace varve::bench
