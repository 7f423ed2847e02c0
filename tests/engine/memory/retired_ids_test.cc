// Owns: the promises of the dropped ids in memory (engine/memory/retired_ids.h).

#include "engine/memory/retired_ids.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "tests/support/allocation_counter.h"

namespace varve::engine::retired_ids_test {
namespace {

constexpr std::uint64_t kSeed = 77;

std::string table_prefix(TableId id) {
  std::string prefix(8, '\0');
  format::store_u64_big_endian(prefix.data(), id);
  return prefix;
}

std::string account_prefix(std::uint32_t account) {
  std::string prefix(4, '\0');
  format::store_u32_big_endian(prefix.data(), account);
  return prefix;
}

void drop(RetiredIds& ids, const std::string& prefix, CommitVersion version) {
  ASSERT_TRUE(ids.reserve(1).ok());
  ids.add(prefix, version);
}

TEST(RetiredIds, NothingIsDroppedAtFirst) {
  const RetiredIds ids;
  EXPECT_EQ(ids.dropped_at(format::make_table_id(1, 1)), std::nullopt);
  EXPECT_EQ(ids.size(), 0u);
  EXPECT_TRUE(ids.list().empty());
}

TEST(RetiredIds, ATableIsDroppedByItsOwnId) {
  RetiredIds ids;
  drop(ids, table_prefix(format::make_table_id(3, 9)), 100);
  EXPECT_EQ(ids.dropped_at(format::make_table_id(3, 9)), 100u);
  EXPECT_EQ(ids.dropped_at(format::make_table_id(3, 8)), std::nullopt);
  EXPECT_EQ(ids.dropped_at(format::make_table_id(4, 9)), std::nullopt);
}

TEST(RetiredIds, AnAccountTakesAllItsTablesWithIt) {
  RetiredIds ids;
  drop(ids, account_prefix(3), 100);
  for (const std::uint32_t table : {0u, 1u, 0x80000000u, 0xFFFFFFFFu}) {
    EXPECT_EQ(ids.dropped_at(format::make_table_id(3, table)), 100u);
    EXPECT_EQ(ids.dropped_at(format::make_table_id(2, table)), std::nullopt);
  }
}

TEST(RetiredIds, TheEarlierOfTableAndAccountCounts) {
  RetiredIds ids;
  drop(ids, table_prefix(format::make_table_id(1, 1)), 50);
  drop(ids, account_prefix(1), 60);
  drop(ids, account_prefix(2), 70);
  drop(ids, table_prefix(format::make_table_id(2, 1)), 80);
  EXPECT_EQ(ids.dropped_at(format::make_table_id(1, 1)), 50u);
  EXPECT_EQ(ids.dropped_at(format::make_table_id(1, 2)), 60u);
  EXPECT_EQ(ids.dropped_at(format::make_table_id(2, 1)), 70u);
}

TEST(RetiredIds, APrefixThatIsThereKeepsItsFirstDrop) {
  RetiredIds ids;
  drop(ids, table_prefix(5), 100);
  drop(ids, table_prefix(5), 200);
  EXPECT_EQ(ids.dropped_at(5), 100u);
  drop(ids, table_prefix(5), 90);
  EXPECT_EQ(ids.dropped_at(5), 90u);
  EXPECT_EQ(ids.size(), 1u);
}

TEST(RetiredIds, AnAccountIsNotTheTableOfTheSameNumber) {
  RetiredIds ids;
  drop(ids, account_prefix(7), 100);
  EXPECT_EQ(ids.dropped_at(7), std::nullopt);  // table 7 of account 0
  drop(ids, table_prefix(7), 200);
  EXPECT_EQ(ids.dropped_at(7), 200u);
  EXPECT_EQ(ids.size(), 2u);
}

TEST(RetiredIds, WhatIsForgottenIsNeitherCountedNorListedAndStaysDropped) {
  RetiredIds ids;
  drop(ids, table_prefix(format::make_table_id(3, 1)), 100);
  drop(ids, table_prefix(format::make_table_id(3, 2)), 110);
  drop(ids, table_prefix(format::make_table_id(3, 4)), 120);
  drop(ids, account_prefix(4), 130);
  const std::vector<std::string> gone{table_prefix(format::make_table_id(3, 1)),
                                      table_prefix(format::make_table_id(3, 2)),
                                      table_prefix(format::make_table_id(3, 9)), account_prefix(4)};
  ASSERT_TRUE(ids.forget(gone).ok());
  EXPECT_EQ(ids.size(), 1u);
  ASSERT_EQ(ids.list().size(), 1u);
  EXPECT_EQ(ids.list().front().prefix, table_prefix(format::make_table_id(3, 4)));
  for (const TableId table : {format::make_table_id(3, 1), format::make_table_id(3, 2), format::make_table_id(3, 4),
                              format::make_table_id(4, 0), format::make_table_id(4, 0xFFFFFFFF)}) {
    EXPECT_TRUE(ids.dropped_at(table).has_value()) << table;
  }
  for (const TableId table : {format::make_table_id(3, 0), format::make_table_id(3, 3), format::make_table_id(3, 9),
                              format::make_table_id(5, 0)}) {
    EXPECT_FALSE(ids.dropped_at(table).has_value()) << table << " was never dropped";
  }
}

TEST(RetiredIds, ForgettingThatFailsChangesNothing) {
  const std::vector<std::string> gone{table_prefix(5), table_prefix(7)};
  for (std::uint64_t nth = 1;; ++nth) {
    RetiredIds ids;
    for (TableId id = 5; id <= 8; ++id) drop(ids, table_prefix(id), 100 + id);
    Status forgotten;
    bool happened = false;
    {
      const test::AllocationFailure failure(nth);
      forgotten = ids.forget(gone);
      happened = failure.happened();
    }
    EXPECT_EQ(ids.size(), happened ? 4u : 2u);
    for (TableId id = 5; id <= 8; ++id) EXPECT_EQ(ids.dropped_at(id), 100 + id);
    if (!happened) break;
    EXPECT_EQ(forgotten.code(), Code::kOutOfMemory);
  }
}

TEST(RetiredIds, AddTakesNoMemoryThatWasReserved) {
  RetiredIds ids;
  ASSERT_TRUE(ids.reserve(1'000).ok());
  const std::uint64_t before = test::allocation_count();
  for (TableId id = 1; id <= 1'000; ++id) {
    std::array<char, 8> prefix;
    format::store_u64_big_endian(prefix.data(), id);
    ids.add({prefix.data(), prefix.size()}, id);
  }
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_EQ(ids.size(), 1'000u);
}

TEST(RetiredIds, AReservationThatFailsChangesNothing) {
  RetiredIds ids;
  drop(ids, table_prefix(5), 100);
  {
    const test::AllocationFailure failure(1);
    EXPECT_EQ(ids.reserve(1'000).code(), Code::kOutOfMemory);
    EXPECT_TRUE(failure.happened());
  }
  EXPECT_EQ(ids.reserve(std::numeric_limits<std::size_t>::max()).code(), Code::kOutOfMemory);
  EXPECT_EQ(ids.dropped_at(5), 100u);
  EXPECT_EQ(ids.size(), 1u);
}

TEST(RetiredIds, AnswersAsASortedMapWould) {
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  RetiredIds ids;
  std::map<std::string, CommitVersion> model;
  for (CommitVersion version = 1; version <= 20'000; ++version) {
    const auto account = static_cast<std::uint32_t>(random() % 300);
    const TableId table = format::make_table_id(account, static_cast<std::uint32_t>(random() % 100));
    const std::string prefix = random() % 50 == 0 ? account_prefix(account) : table_prefix(table);
    drop(ids, prefix, version);
    model.emplace(prefix, version);
  }
  ASSERT_EQ(ids.size(), model.size());
  for (std::uint32_t account = 0; account < 310; ++account) {
    for (std::uint32_t table = 0; table < 105; ++table) {
      const TableId id = format::make_table_id(account, table);
      std::optional<CommitVersion> expected;
      for (const std::string& prefix : {table_prefix(id), account_prefix(account)}) {
        const auto found = model.find(prefix);
        if (found != model.end()) expected = std::min(expected.value_or(found->second), found->second);
      }
      ASSERT_EQ(ids.dropped_at(id), expected) << account << ", " << table;
    }
  }
  std::map<std::string, CommitVersion> listed;
  for (const format::DeadId& dead : ids.list()) ASSERT_TRUE(listed.emplace(dead.prefix, dead.drop_version).second);
  EXPECT_EQ(listed, model);
}

}  // namespace
}  // namespace varve::engine::retired_ids_test
