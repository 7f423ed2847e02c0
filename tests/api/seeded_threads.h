// Owns: threads of an api test that a seeded scheduler runs one at a time.
// Must never: go on to another seed after a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/scheduler.h"
#include "tests/api/store_bench.h"

namespace varve::test {

/// Runs each body in a thread of its own, and waits for all.
inline void run_together(StoreBench& bench, const std::vector<std::function<void()>>& bodies) {
  std::vector<io::Thread> threads;
  for (const std::function<void()>& body : bodies) {
    Result<io::Thread> thread = bench.machine.scheduler().start("test", body);
    ASSERT_TRUE(thread.ok()) << thread.status().to_string();
    threads.push_back(*std::move(thread));
  }
  for (io::Thread& thread : threads) thread.join();
}

inline void for_each_seed(std::uint64_t seeds, const std::function<void(StoreBench&)>& test) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StoreBench bench(seed, OneThreadAtATime{});
    test(bench);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace varve::test
