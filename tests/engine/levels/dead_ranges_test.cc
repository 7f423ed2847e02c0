// Owns: the promises of dead ranges (engine/levels/dead_ranges.h).
#include "engine/levels/dead_ranges.h"

#include <vector>

#include <gtest/gtest.h>

#include "format/keys/sort_key.h"

namespace varve::engine::dead_ranges_test {
namespace {

format::DeadId dead_table(TableId table, CommitVersion version) {
  return {format::encode_table(table), version, {}};
}

TEST(DeadRanges, NoIdsCoverNothing) {
  const DeadRanges dead;
  EXPECT_TRUE(dead.empty());
  EXPECT_FALSE(dead.holds(1));
  EXPECT_FALSE(dead.touches(0, ~TableId{0}));
}

TEST(DeadRanges, AdjacentIdsCoverTogether) {
  const std::vector<format::DeadId> ids = {dead_table(8, 1), dead_table(6, 1), dead_table(7, 1), dead_table(10, 1)};
  const DeadRanges dead(ids, 5);
  EXPECT_TRUE(dead.covers(6, 8));
  EXPECT_FALSE(dead.covers(6, 9));
  EXPECT_FALSE(dead.covers(8, 10));
  EXPECT_FALSE(dead.covers(5, 6));
  EXPECT_TRUE(dead.touches(0, 6));
  EXPECT_TRUE(dead.touches(9, 99));
  EXPECT_FALSE(dead.touches(11, 99));
}

TEST(DeadRanges, AnAccountIsAllItsTables) {
  format::DeadId account;
  account.prefix = format::encode_table(format::make_table_id(3, 0)).substr(0, 4);
  account.drop_version = 1;
  const std::vector<format::DeadId> ids = {account, dead_table(format::make_table_id(3, 77), 1)};
  const DeadRanges dead(ids, 1);
  EXPECT_TRUE(dead.covers(format::make_table_id(3, 0), format::make_table_id(3, 0xFFFFFFFF)));
  EXPECT_FALSE(dead.holds(format::make_table_id(2, 0xFFFFFFFF)));
  EXPECT_FALSE(dead.holds(format::make_table_id(4, 0)));
}

TEST(DeadRanges, TheLastIdOfAllDoesNotWrap) {
  const std::vector<format::DeadId> ids = {dead_table(~TableId{0}, 1), dead_table(0, 1)};
  const DeadRanges dead(ids, 1);
  EXPECT_TRUE(dead.holds(0));
  EXPECT_TRUE(dead.holds(~TableId{0}));
  EXPECT_FALSE(dead.holds(1));
}

TEST(DeadRanges, ADropThatSomebodyReadsBeneathIsNotDeadYet) {
  const std::vector<format::DeadId> ids = {dead_table(6, 10), dead_table(7, 11)};
  const DeadRanges dead(ids, 10);
  EXPECT_TRUE(dead.holds(6));
  EXPECT_FALSE(dead.holds(7));
}

}  // namespace
}  // namespace varve::engine::dead_ranges_test
