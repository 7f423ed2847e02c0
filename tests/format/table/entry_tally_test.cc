// Goal: entries in a wrong order and invalid keys are reported, and all other entries are counted by table.
// Method: the tally gets entries that no file with verified blocks contains.
#include <string>

#include <gtest/gtest.h>

#include "format/table/run_verify.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::entry_tally_test {
namespace {

DataEntry entry_of(std::string_view key, CommitVersion version, Kind kind = Kind::kPut) {
  return {key, version, kind, ""};
}

TEST(EntryTallyTest, CountsEntriesDeletesAndBytesByTable) {
  EntryTally tally;
  const std::string first = sample_key(1, 1, 1);
  const std::string second = sample_key(2, 1, 1);
  ASSERT_TRUE(tally.add(entry_of(first, 9), 100).ok());
  ASSERT_TRUE(tally.add(entry_of(first, 8, Kind::kDelete), 100).ok());
  ASSERT_TRUE(tally.add(entry_of(second, 7), 300).ok());
  tally.end_block(table_id_of(first), 40);
  tally.end_block(table_id_of(second), 50);
  tally.end_block(make_table_id(99, 99), 60);  // of a table without entries
  ASSERT_EQ(tally.tables().size(), 2U);
  EXPECT_EQ(tally.tables()[0].entry_count, 2U);
  EXPECT_EQ(tally.tables()[0].tombstone_count, 1U);
  EXPECT_EQ(tally.tables()[0].bytes, 40U);
  EXPECT_EQ(tally.tables()[1].entry_count, 1U);
  EXPECT_EQ(tally.tables()[1].bytes, 50U);
  EXPECT_EQ(tally.last_key(), second);
}

TEST(EntryTallyTest, AKeyBelowTheOneBeforeIsDamageAndNotCounted) {
  EntryTally tally;
  const std::string low = sample_key(1, 1, 1);
  const std::string high = sample_key(1, 1, 2);
  ASSERT_TRUE(tally.add(entry_of(high, 9), 100).ok());
  const Status refused = tally.add(entry_of(low, 8), 100);
  EXPECT_EQ(refused.code(), Code::kCorruption);
  EXPECT_EQ(refused.message(), "a key is below the previous key");
  EXPECT_EQ(tally.last_key(), high);
  EXPECT_EQ(tally.tables()[0].entry_count, 1U);
}

TEST(EntryTallyTest, VersionsOfAKeyThatDoNotFallAreDamage) {
  const std::string key = sample_key(1, 1, 1);
  for (const CommitVersion next : {CommitVersion{9}, CommitVersion{10}}) {
    EntryTally tally;
    ASSERT_TRUE(tally.add(entry_of(key, 9), 100).ok());
    const Status refused = tally.add(entry_of(key, next), 100);
    EXPECT_EQ(refused.code(), Code::kCorruption);
    EXPECT_EQ(refused.message(), "the versions of a key do not descend");
    EXPECT_EQ(tally.tables()[0].entry_count, 1U);
  }
}

TEST(EntryTallyTest, WhatIsNoSortKeyIsDamage) {
  EntryTally tally;
  for (const std::string_view key : {std::string_view("abc"), std::string_view("no sort key at all")}) {
    EXPECT_EQ(tally.add(entry_of(key, 9), 100).code(), Code::kCorruption) << key;
  }
  EXPECT_TRUE(tally.tables().empty());
}

}  // namespace
}  // namespace varve::format::entry_tally_test
