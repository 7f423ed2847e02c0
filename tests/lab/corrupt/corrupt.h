// Owns: the suite "corrupt": stores with every kind of file and block, damaged in every known way.
// Must never: accept an undetected change of a cleanly closed store.
#pragma once

#include <cstddef>

#include "tests/lab/suite.h"

namespace varve::lab {

/// The number of single bytes and lengths that a round tries in each of its stores. Whole files and regions are all
/// tried.
struct CorruptEffort {
  std::uint64_t flips_max = 2'500;
  std::uint64_t cuts_max = 400;
  std::uint64_t dictionary_flips_max = 60;
};

Report run_corrupt(const Share& share);
/// `only`: a part ("clean", "checkpoint", "dictionary", "killed", "power-cut"), or a part, '/' and the text of a case.
Report run_corrupt(const Share& share, const CorruptEffort& effort);

}  // namespace varve::lab
