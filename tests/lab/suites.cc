#include "tests/lab/crash/crash.h"
#include "tests/lab/suite.h"

namespace varve::lab {

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all = {
      {"crash", "every scenario crashed at every step, in every way", 56, false, crash_points},
  };
  return all;
}

}  // namespace varve::lab
