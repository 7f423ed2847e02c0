// Goal: of loads without an adoption, recovery keeps only files that other tables need.
#include "engine/manifest/unfinished_loads.h"

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"

namespace varve::engine::unfinished_loads_test {
namespace {

format::TableFileEntry table(std::uint64_t number, format::TableId first, format::TableId last) {
  format::TableFileEntry entry;
  entry.number = number;
  entry.first_table = first;
  entry.last_table = last;
  return entry;
}

FileSet set_with_loads() {
  FileSet set;
  set.file_number_ceiling = 100;
  set.loading_ids = {20, 30};
  for (const format::TableFileEntry& entry : {table(1, 10, 10), table(2, 20, 20), table(3, 20, 20), table(4, 30, 30)}) {
    set.tables.emplace(entry.number, entry);
  }
  return set;
}

TEST(UnfinishedLoads, LeaveWithTheFilesThatAreTheirsAlone) {
  FileSet set = set_with_loads();
  const auto dead = drop_unfinished_loads({}, set);
  ASSERT_TRUE(dead.ok());
  EXPECT_TRUE(dead->empty());
  EXPECT_TRUE(set.loading_ids.empty());
  EXPECT_TRUE(set.dead_ids.empty());
  ASSERT_EQ(set.tables.size(), 1u);
  EXPECT_TRUE(set.tables.contains(1));
}

TEST(UnfinishedLoads, AdoptedOnesStayAsTheyAre) {
  FileSet set = set_with_loads();
  const std::vector<format::TableId> adopted = {20, 30};
  const FileSet before = set;
  ASSERT_TRUE(drop_unfinished_loads(adopted, set).ok());
  EXPECT_EQ(set, before);
}

TEST(UnfinishedLoads, InFilesOfOthersTheyBecomeDead) {
  FileSet set = set_with_loads();
  set.tables.emplace(5, table(5, 10, 25));  // spans 20, and may have entries of it
  const std::vector<format::TableId> adopted = {30};
  const auto dead = drop_unfinished_loads(adopted, set);
  ASSERT_TRUE(dead.ok());
  ASSERT_EQ(dead->size(), 1u);
  EXPECT_EQ(dead->front().prefix, format::encode_table(20));
  EXPECT_EQ(dead->front().drop_version, kNeverShown);
  EXPECT_EQ(set.dead_ids, *dead);
  EXPECT_EQ(set.loading_ids, adopted);
  EXPECT_TRUE(set.tables.contains(1));
  EXPECT_FALSE(set.tables.contains(2));
  EXPECT_FALSE(set.tables.contains(3));
  EXPECT_TRUE(set.tables.contains(4));
  EXPECT_TRUE(set.tables.contains(5));
}

}  // namespace
}  // namespace varve::engine::unfinished_loads_test
