// Owns: the promises of level targets and of the debt (engine/levels/tree_shape.h, debt.h).
#include "engine/levels/tree_shape.h"

#include "engine/levels/debt.h"
#include "tests/engine/compaction/tree_files.h"

namespace varve::engine::tree_shape_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

format::TableFileEntry sized(std::uint64_t number, std::uint32_t level, std::uint64_t mib) {
  format::TableFileEntry entry = file_entry(number, level, "a", "z");
  entry.size_bytes = mib * kMiB;
  return entry;
}

TEST(LevelTargets, ASmallStoreIsLevel0AndTheLast) {
  const TreeShape shape;
  EXPECT_EQ(level_targets(Levels(), shape).base, kLastLevel);
  const auto most = static_cast<std::uint64_t>(static_cast<double>(shape.base_bytes / kMiB) * shape.fan_out);
  EXPECT_EQ(level_targets(levels_of({sized(1, 6, most)}), shape).base, kLastLevel);
  EXPECT_EQ(level_targets(levels_of({sized(1, 6, most + 1)}), shape).base, kLastLevel - 1);
}

TEST(LevelTargets, NeighboursStandInOneRatioNotAboveTheFanOut) {
  const TreeShape shape;
  for (const std::uint64_t gib : {1UL, 5UL, 20UL, 100UL, 1000UL, 10'000UL, 60'000UL}) {
    const LevelTargets targets = level_targets(levels_of({sized(1, 6, gib * 1024)}), shape);
    double below = static_cast<double>(gib * 1024 * kMiB);
    const double ratio = targets.base == kLastLevel ? 1 : below / static_cast<double>(targets.bytes[kLastLevel - 1]);
    for (std::uint32_t level = kLastLevel - 1; level >= targets.base; --level) {
      const double bytes = static_cast<double>(targets.bytes[level]);
      EXPECT_LE(below / bytes, shape.fan_out * 1.001) << gib << " GiB, level " << level;
      EXPECT_NEAR(below / bytes, ratio, 0.01);
      below = bytes;
    }
    EXPECT_GE(below, static_cast<double>(shape.base_bytes));
  }
}

TEST(LevelTargets, TheBaseIsNeverBelowALevelThatHoldsFiles) {
  EXPECT_EQ(level_targets(levels_of({sized(1, 3, 1), sized(2, 6, 1)}), {}).base, 3u);
}

TEST(Debt, IsZeroForAnEmptyOrBalancedTree) {
  const TreeShape shape;
  EXPECT_EQ(compaction_debt_bytes(Levels(), shape), 0u);
  EXPECT_EQ(compaction_debt_bytes(levels_of({sized(1, 0, 64), sized(2, 6, 1024)}), shape), 0u);
}

TEST(Debt, OfAFullLevel0IsItsBytesAndWhatTheyMeet) {
  const TreeShape shape;
  std::vector<format::TableFileEntry> entries = {sized(100, 6, 1024)};
  for (std::uint32_t i = 0; i < shape.level0_flushes; ++i) entries.push_back(sized(1 + i, 0, 32));
  EXPECT_EQ(compaction_debt_bytes(levels_of(entries), shape), (32 * shape.level0_flushes + 1024) * kMiB);
  entries[0].smallest_key = "zz";
  entries[0].largest_key = "zzz";
  EXPECT_EQ(compaction_debt_bytes(levels_of(entries), shape), 32 * shape.level0_flushes * kMiB);
}

TEST(Debt, RisesWithWhatIsAboveTheTarget) {
  std::uint64_t last = 0;
  for (std::uint64_t mib = 0; mib < 8192; mib += 128) {
    const std::uint64_t debt = compaction_debt_bytes(levels_of({sized(1, 5, mib), sized(2, 6, 8192)}), {});
    EXPECT_GE(debt, last);
    last = debt;
  }
  EXPECT_GT(last, 8192 * kMiB);
}

}  // namespace
}  // namespace varve::engine::tree_shape_test
