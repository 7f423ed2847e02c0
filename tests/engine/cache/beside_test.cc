// Goal: memory that is counted beside the blocks takes its part of the budget, but never more than half of it, and
// gives the part back.
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "engine/cache/block_cache.h"
#include "io/scheduler.h"
#include "tests/engine/cache/cache_fill.h"

namespace varve::engine::beside_test {
namespace {

constexpr std::uint64_t kBudget = std::uint64_t{4} << 20;

class CacheBeside : public testing::Test {
 protected:
  /// Inserts more blocks than fit, and returns the bytes that the cache then uses.
  std::uint64_t fill() {
    for (std::uint64_t count = 0; count < 2'000; ++count) (void)insert(cache_, {1, next_++}, 4'000);
    cache_.check_invariants();
    return cache_.figures().used_bytes;
  }

  io::Scheduler scheduler_;
  BlockCache cache_{scheduler_, kBudget};
  std::uint64_t next_ = 0;
};

TEST_F(CacheBeside, BlocksMakeRoomAtOnceAndStayBelowTheRest) {
  EXPECT_GT(fill(), kBudget * 9 / 10);
  cache_.add_beside(kBudget / 4);
  EXPECT_LE(cache_.figures().used_bytes, kBudget * 3 / 4);
  EXPECT_LE(fill(), kBudget * 3 / 4);
  EXPECT_GT(fill(), kBudget * 2 / 3);
  EXPECT_EQ(cache_.figures().beside_bytes, kBudget / 4);
  EXPECT_EQ(cache_.bytes_max(), kBudget);
}

TEST_F(CacheBeside, ManySmallAmountsCountLikeOne) {
  for (std::uint64_t count = 0; count < 1'000; ++count) cache_.add_beside(kBudget / 2'000);
  EXPECT_LE(fill(), kBudget / 2 + kBudget / 100);
}

TEST_F(CacheBeside, BlocksKeepHalf) {
  cache_.add_beside(100 * kBudget);
  const std::uint64_t used = fill();
  EXPECT_LE(used, kBudget / 2);
  EXPECT_GT(used, kBudget * 4 / 10);
}

TEST_F(CacheBeside, RemovedMemoryComesBack) {
  cache_.add_beside(kBudget / 2);
  (void)fill();
  cache_.remove_beside(kBudget / 2);
  cache_.add_beside(1);
  EXPECT_GT(fill(), kBudget * 9 / 10);
}

}  // namespace
}  // namespace varve::engine::beside_test
