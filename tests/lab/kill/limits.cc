#include "tests/lab/kill/kill.h"
namespace varve::lab {
Report run_limits(std::uint64_t, const std::string&) {
  return {};
}
Report run_small_disk(std::uint64_t, const std::string&) {
  return {};
}
}  // namespace varve::lab
