// Owns: repeating an operation with each of its allocations failing once.
// Must never: accept another error than the lack of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/allocation_counter.h"
#include "varve/status.h"

namespace varve::test {

/// Repeats `attempt` until no allocation of it fails. `check` inspects the store after each failure. An attempt that may
/// do without some memory, which only saves work later, also succeeds; `undo` then takes back what it did.
inline void sweep(const std::function<Status()>& attempt, const std::function<void(std::uint64_t)>& check,
                  const std::function<void()>& undo = nullptr) {
  for (std::uint64_t nth = 1; nth < 10'000; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Status status;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      status = attempt();
      failed = failure.happened();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      return;
    }
    if (status.ok() && undo) {
      undo();
      continue;
    }
    ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
    check(nth);
    if (::testing::Test::HasFailure()) return;
  }
  FAIL() << "the verb needs more than 10,000 allocations";
}

}  // namespace varve::test
