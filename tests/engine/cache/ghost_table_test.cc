// Owns: the promises of the ghosts (engine/cache/ghost_table.h).

#include "engine/cache/ghost_table.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "engine/cache/block_node.h"

namespace varve::engine::ghost_table_test {
namespace {

std::uint64_t name(std::uint64_t number) {
  return hash_of({7, number});
}

TEST(GhostTable, RemembersTheLastNamesAndEachOnce) {
  GhostTable ghosts;
  ASSERT_TRUE(ghosts.resize(16));
  for (std::uint64_t i = 0; i < 10; ++i) ghosts.add(name(i));
  EXPECT_FALSE(ghosts.take(name(10), 100));
  EXPECT_TRUE(ghosts.take(name(9), 1));
  EXPECT_FALSE(ghosts.take(name(9), 100));
  EXPECT_TRUE(ghosts.take(name(5), 5));
  EXPECT_FALSE(ghosts.take(name(4), 5));  // the sixth from the end
}

TEST(GhostTable, WithoutMemoryItKnowsNothing) {
  GhostTable ghosts;
  EXPECT_EQ(ghosts.bytes(), 0U);
  ghosts.add(name(1));
  EXPECT_FALSE(ghosts.take(name(1), 100));
  ASSERT_TRUE(ghosts.resize(4));
  EXPECT_EQ(ghosts.bytes(), 256U);
  ghosts.add(name(1));
  ASSERT_TRUE(ghosts.resize(0));
  EXPECT_EQ(ghosts.bytes(), 0U);
  EXPECT_FALSE(ghosts.take(name(1), 100));
}

TEST(GhostTable, KeepsTheYoungestOfEachSet) {
  GhostTable ghosts;
  ASSERT_TRUE(ghosts.resize(1));
  for (std::uint64_t i = 0; i < 100; ++i) ghosts.add(name(i));
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(ghosts.take(name(i), 1'000), i >= 92);
}

TEST(GhostTable, KeepsItsNamesWhenItGrowsAndTheYoungestWhenItShrinks) {
  GhostTable ghosts;
  ASSERT_TRUE(ghosts.resize(1));
  for (std::uint64_t i = 0; i < 8; ++i) ghosts.add(name(i));
  ASSERT_TRUE(ghosts.resize(64));
  for (std::uint64_t i = 8; i < 24; ++i) ghosts.add(name(i));
  ASSERT_TRUE(ghosts.resize(1));
  for (std::uint64_t i = 0; i < 24; ++i) EXPECT_EQ(ghosts.take(name(i), 1'000), i >= 16) << i;

  ASSERT_TRUE(ghosts.resize(1));
  for (std::uint64_t i = 0; i < 8; ++i) ghosts.add(name(i));
  ASSERT_TRUE(ghosts.resize(64));
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(ghosts.take(name(i), 1'000)) << i;
}

}  // namespace
}  // namespace varve::engine::ghost_table_test
