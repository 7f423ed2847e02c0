// Owns: the share of a long sweep or random test that is run. Without a sanitizer everything is run. A sanitizer makes
// every step ten to thirty times slower, so only an evenly spread part is run. A sanitizer's run checks how steps run;
// the results of all steps are checked without it.
// Must never: be used if a round depends on another round.
#pragma once

namespace varve::test {

#ifdef VARVE_SANITIZED
inline constexpr int kEffortDivisor = 23;  // odd, so that a stride of it meets every alignment
#else
inline constexpr int kEffortDivisor = 1;
#endif

/// Returns `rounds`, or under a sanitizer the part of them to run. Returns at least one.
template <typename Count>
constexpr Count effort(Count rounds) {
  return (rounds + kEffortDivisor - 1) / kEffortDivisor;
}

/// The distance from one step of a sweep to the next.
inline constexpr int kStride = kEffortDivisor;

}  // namespace varve::test
