// Owns: running many small cases in a forked child, so that one that crashes or hangs is a finding like any other.
// Must never: be used while other threads of this process run: the child has the calling one alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace varve::lab {

/// What one case came to. `code` is the caller's; a case that fails says what law was broken.
struct CaseResult {
  std::uint8_t code = 0;
  std::string what{};
  std::string detail{};
};

struct FailedCase {
  std::size_t index = 0;
  std::string what;
  std::string detail;
};

struct IsolatedRun {
  std::vector<std::uint8_t> codes;   // of every case, by index; of one that crashed or hung, kCrashedCode
  std::vector<FailedCase> failures;  // the first kFailuresKept of them
  std::size_t failure_count = 0;
};

inline constexpr std::uint8_t kCrashedCode = 255;
inline constexpr std::size_t kFailuresKept = 50;

/// Runs cases 0 to count - 1 in their order. A case that ends the process, or takes longer than `seconds_max`, has
/// failed; the next child goes on behind it, and after some of them no more are run (their code stays kCrashedCode).
IsolatedRun run_isolated(std::size_t count, unsigned seconds_max, const std::function<CaseResult(std::size_t)>& run);

}  // namespace varve::lab
