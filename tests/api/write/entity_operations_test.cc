// The rules of single operations beyond one kind: conditions, durability, reads, moves.
#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::entity_operations_test {
namespace {

using namespace test;

class EntityOperations : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  Table& table() { return *table_; }

  /// Returns the value of p, row in a store opened after a power cut at this moment, which leaves only durable data.
  std::string value_after_power_cut(std::string_view row) {
    StoreBench after(7, bench_.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, bench_.machine.random));
    const Result<Table> again = after.open().open_table(kAccount, "Orders");
    EXPECT_TRUE(again.ok()) << again.status().to_string();
    return again.ok() ? value_in(*again, "p", row) : "no table";
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(EntityOperations, O04_TheETagInsideAnEntityIsIgnoredByEveryWrite) {
  const ETag foreign = ETag::of_timestamp(DateTime{limits::kDateTimeTicksMin});
  Entity entity = with_value("p", "r", "1");
  entity.set_etag(foreign);
  ASSERT_EQ(said(table().insert(entity)), kFine);
  EXPECT_NE(read(table(), "p", "r")->etag(), foreign);
  EXPECT_EQ(said(table().insert_or_replace(entity)), kFine);
  EXPECT_EQ(said(table().insert_or_merge(entity)), kFine);
  EXPECT_EQ(said(table().merge(entity, ETag::any())), kFine);
  const Result<ETag> current = table().replace(entity, ETag::any());
  ASSERT_EQ(said(current), kFine);
  EXPECT_EQ(said(table().replace(entity, *current)), kFine);
  // The right ETag inside the entity does not help if the condition is another one.
  entity.set_etag(read(table(), "p", "r")->etag());
  EXPECT_EQ(said(table().replace(entity, foreign)), kUpdateConditionNotSatisfied);
  EXPECT_EQ(said(table().merge(entity, foreign)), kUpdateConditionNotSatisfied);
}

TEST_F(EntityOperations, O06_WhatReturnedIsSeenAtOnceAndSurvivesAPowerCut) {
  ASSERT_TRUE(table().insert(with_value("p", "r", "1")).ok());
  EXPECT_EQ(value_in(table(), "p", "r"), "1");
  EXPECT_EQ(value_after_power_cut("r"), "1");
  ASSERT_TRUE(table().replace(with_value("p", "r", "2"), ETag::any()).ok());
  EXPECT_EQ(value_in(table(), "p", "r"), "2");
  EXPECT_EQ(value_after_power_cut("r"), "2");
  ASSERT_TRUE(table().merge(with_value("p", "r", "3"), ETag::any()).ok());
  EXPECT_EQ(value_after_power_cut("r"), "3");
  ASSERT_TRUE(table().insert_or_replace(with_value("p", "r", "4")).ok());
  EXPECT_EQ(value_after_power_cut("r"), "4");
  ASSERT_TRUE(table().insert_or_merge(with_value("p", "r", "5")).ok());
  EXPECT_EQ(value_after_power_cut("r"), "5");
  ASSERT_TRUE(table().remove("p", "r", ETag::any()).ok());
  EXPECT_EQ(value_in(table(), "p", "r"), "-");
  EXPECT_EQ(value_after_power_cut("r"), "-");
}

TEST_F(EntityOperations, O06_ARepeatedWriteMeetsWhatTheFirstOneDid) {
  ASSERT_TRUE(table().insert(with_value("p", "r", "1")).ok());
  EXPECT_EQ(said(table().insert(with_value("p", "r", "1"))), kEntityAlreadyExists);
  ASSERT_TRUE(table().remove("p", "r", ETag::any()).ok());
  EXPECT_EQ(said(table().remove("p", "r", ETag::any())), kResourceNotFound);
}

TEST_F(EntityOperations, O15_AGetReturnsOneEntityWithItsETagWholeOrByASelection) {
  const Result<ETag> etag = table().insert(Entity("p", "r").set("A", 1).set("B", "x").set("C", true));
  ASSERT_TRUE(etag.ok());
  const std::optional<Entity> whole = read(table(), "p", "r");
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->partition_key(), "p");
  EXPECT_EQ(whole->row_key(), "r");
  EXPECT_EQ(whole->properties().size(), 3u);
  EXPECT_EQ(whole->etag(), *etag);
  EXPECT_EQ(whole->timestamp(), etag->timestamp());
  const std::optional<Entity> part = read(table(), "p", "r", {.select = {"C", "A", "Absent"}});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->properties().size(), 2u);
  EXPECT_EQ(part->find("B"), nullptr);
  EXPECT_EQ(part->etag(), *etag);
  EXPECT_EQ(read(table(), "p", "R"), std::nullopt);
  EXPECT_EQ(read(table(), "P", "r"), std::nullopt);
  ASSERT_TRUE(bench_.store->drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(table().get("p", "r")), kTableNotFound);
}

TEST_F(EntityOperations, O17_AnEntityMovesByADeleteAndAnInsertTogether) {
  const Result<ETag> etag = table().insert(with_value("p", "old", "x"));
  ASSERT_TRUE(etag.ok());
  EntityGroupTransaction move;
  move.remove("p", "old", *etag).insert(with_value("p", "new", "x"));
  ASSERT_TRUE(table().execute(move).ok());
  EXPECT_EQ(value_in(table(), "p", "old"), "-");
  EXPECT_EQ(value_in(table(), "p", "new"), "x");
  // The second time it is stale, and nothing happens.
  EXPECT_EQ(said(table().execute(move)), kResourceNotFound);
  EXPECT_EQ(value_in(table(), "p", "new"), "x");
  EntityGroupTransaction across;
  across.remove("p", "new", ETag::any()).insert(with_value("q", "new", "x"));
  EXPECT_EQ(said(table().execute(across)), kDifferentPartitions);
  EXPECT_EQ(value_in(table(), "p", "new"), "x");
}

}  // namespace
}  // namespace varve::entity_operations_test
