// Owns: running many small cases in a forked child, so that a case that crashes or hangs is an ordinary finding.
// Must never: be used while other threads of this process run: the child has only the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace varve::lab {

/// The result of one case. The caller defines `code`. A failed case also has the violated law.
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
  std::vector<std::uint8_t> codes;   // of every case, by index; kCrashedCode if the case crashed or hung
  std::vector<FailedCase> failures;  // the first kFailuresKept failures
  std::size_t failure_count = 0;
};

inline constexpr std::uint8_t kCrashedCode = 255;
inline constexpr std::size_t kFailuresKept = 50;

/// Runs cases 0 to count - 1 in their order. A case that ends the process, or takes longer than `seconds_max`, has
/// failed. The next child continues after it. After several such cases no more are run, and their code stays
/// kCrashedCode.
IsolatedRun run_isolated(std::size_t count, unsigned seconds_max, const std::function<CaseResult(std::size_t)>& run);

}  // namespace varve::lab
