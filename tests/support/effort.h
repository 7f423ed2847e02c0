// Owns: how much of a long sweep or random test is run. All of it, but under a sanitizer, where every step takes ten to
// thirty times as long, a part spread evenly over the whole: there the question is how a step runs, not which is wrong.
// Must never: be used where the outcome of one round depends on another having run.
#pragma once

namespace varve::test {

#ifdef VARVE_SANITIZED
inline constexpr int kEffortDivisor = 7;  // odd, so that a stride of it meets every alignment
#else
inline constexpr int kEffortDivisor = 1;
#endif

/// `rounds`, or under a sanitizer the part of them to run; at least one.
template <typename Count>
constexpr Count effort(Count rounds) {
  return (rounds + kEffortDivisor - 1) / kEffortDivisor;
}

/// From one step of a sweep to the next.
inline constexpr int kStride = kEffortDivisor;

}  // namespace varve::test
