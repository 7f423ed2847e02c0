// Goal: each operation of AsyncTypedTable is that of TypedTable, as a task.
#include "varve/async_typed_table.h"

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::async_typed_table_test {
namespace {

struct Part {
  std::string depot;
  std::string number;
  std::int32_t count = 0;
  std::optional<std::string> note;
  ETag etag;
  DateTime written;
};

}  // namespace
}  // namespace varve::async_typed_table_test

namespace varve {

template <>
inline constexpr auto mapping<async_typed_table_test::Part> = mapped::members(
    mapped::partition_key(&async_typed_table_test::Part::depot), mapped::row_key(&async_typed_table_test::Part::number),
    mapped::property("Count", &async_typed_table_test::Part::count),
    mapped::property("Note", &async_typed_table_test::Part::note), mapped::etag(&async_typed_table_test::Part::etag),
    mapped::timestamp(&async_typed_table_test::Part::written));

}  // namespace varve

namespace varve::async_typed_table_test {
namespace {

using namespace test;

class AsyncTypedTableTest : public testing::Test {
 protected:
  Part read(std::string number) {
    Result<std::optional<Part>> found = wait(parts_.get("east", std::move(number)));
    EXPECT_TRUE(found.ok() && found->has_value()) << found.status().to_string();
    return found.ok() && found->has_value() ? **found : Part();
  }

  StoreBench bench_;
  Table table_ = bench_.table("Parts");
  AsyncTypedTable<Part> parts_{table_};
};

TEST_F(AsyncTypedTableTest, WhatIsWrittenIsRead) {
  EXPECT_EQ(said(wait(parts_.get("east", "1"))), kFine);
  EXPECT_FALSE((*wait(parts_.get("east", "1"))).has_value());
  const Result<ETag> inserted = wait(parts_.insert({"east", "1", 3, "blue", {}, {}}));
  ASSERT_TRUE(inserted.ok()) << inserted.status().to_string();
  const Part part = read("1");
  EXPECT_EQ(part.count, 3);
  EXPECT_EQ(part.note, "blue");
  EXPECT_EQ(part.etag, *inserted);
  EXPECT_EQ(part.written, inserted->timestamp());
  EXPECT_EQ(said(wait(parts_.insert(part))), kEntityAlreadyExists);
}

TEST_F(AsyncTypedTableTest, WritesGoUnderTheETagThatIsCarried) {
  ASSERT_TRUE(wait(parts_.insert({"east", "1", 3, "blue", {}, {}})).ok());
  Part part = read("1");
  const Part stale = part;
  part.count = 4;
  const Result<ETag> replaced = wait(parts_.replace(part));
  ASSERT_TRUE(replaced.ok()) << replaced.status().to_string();
  EXPECT_EQ(said(wait(parts_.replace(stale))), kUpdateConditionNotSatisfied);
  EXPECT_EQ(said(wait(parts_.merge(stale))), kUpdateConditionNotSatisfied);
  EXPECT_EQ(said(wait(parts_.remove(stale))), kUpdateConditionNotSatisfied);
  mapped::stamp(part, *replaced);
  part.note.reset();
  EXPECT_EQ(said(wait(parts_.merge(part))), kFine);
  EXPECT_EQ(read("1").note, "blue") << "a member without a value leaves the property";
  EXPECT_EQ(said(wait(parts_.replace(part, ETag::any()))), kFine);
  EXPECT_EQ(read("1").note, std::nullopt);
  EXPECT_EQ(said(wait(parts_.remove(read("1")))), kFine);
  EXPECT_FALSE((*wait(parts_.get("east", "1"))).has_value());
}

TEST_F(AsyncTypedTableTest, WhatMayBeThereOrNotIsWrittenEitherWay) {
  for (int round = 1; round <= 2; ++round) {
    EXPECT_EQ(said(wait(parts_.insert_or_replace({"east", "1", round, std::nullopt, {}, {}}))), kFine);
    EXPECT_EQ(said(wait(parts_.insert_or_merge({"east", "2", round, std::nullopt, {}, {}}))), kFine);
    EXPECT_EQ(read("1").count, round);
    EXPECT_EQ(read("2").count, round);
  }
}

TEST_F(AsyncTypedTableTest, AQueryFindsAllPagesAndNoMoreThanItTakes) {
  std::vector<Task<Result<ETag>>> inserts;
  for (int i = 0; i < 30; ++i) inserts.push_back(parts_.insert({"east", std::to_string(100 + i), i, {}, {}, {}}));
  for (const Result<ETag>& inserted : wait(all(std::move(inserts)))) ASSERT_TRUE(inserted.ok());

  Query<Part> small_pages;
  small_pages.where(field<&Part::count>() >= 10).page_entities(7);
  Result<std::vector<Part>> found = wait(parts_.run(small_pages));
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  ASSERT_EQ(found->size(), 20u);
  EXPECT_EQ(found->front().count, 10);
  EXPECT_EQ(found->back().count, 29);
  EXPECT_EQ((*wait(parts_.run(small_pages.take(9)))).size(), 9u);
  EXPECT_EQ((*wait(parts_.query(field<&Part::depot>() == "west"))).size(), 0u);
  EXPECT_EQ((*wait(parts_.query())).size(), 30u);
}

TEST_F(AsyncTypedTableTest, ChangesByFilterNameMembers) {
  for (int i = 1; i <= 4; ++i) {
    ASSERT_TRUE(wait(parts_.insert({"east", std::to_string(i), i, "blue", {}, {}})).ok());
  }
  Query<Part> large;
  large.where(field<&Part::count>() > 2);
  const Result<WhereProgress> changed = wait(parts_.update_where(large, TypedChanges<Part>().set<&Part::note>("red")));
  ASSERT_EQ(said(changed), kFine) << changed.status().to_string();
  EXPECT_EQ(changed->changed, 2u);
  EXPECT_EQ(read("2").note, "blue");
  EXPECT_EQ(read("3").note, "red");
  EXPECT_EQ((*wait(parts_.delete_where(large))).changed, 2u);
  EXPECT_FALSE((*wait(parts_.get("east", "3"))).has_value());
  EXPECT_EQ(wait(parts_.delete_where(large.take(1))).code(), Code::kInvalidArgument);
}

TEST_F(AsyncTypedTableTest, AnEntityThatDoesNotFitIsRefused) {
  Entity other("east", "1");
  other.set("Count", "three");
  ASSERT_TRUE(table_.insert(other).ok());
  EXPECT_EQ(wait(parts_.get("east", "1")).code(), Code::kInvalidArgument);
  EXPECT_EQ(wait(parts_.query()).code(), Code::kInvalidArgument);
}

TEST_F(AsyncTypedTableTest, AStopIsPassedOn) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(wait(parts_.insert({"east", "1", 1, {}, {}, {}}, {}, source.get_token())).code(), Code::kCancelled);
  EXPECT_EQ(wait(parts_.query({}, source.get_token())).code(), Code::kCancelled);
  EXPECT_TRUE((*wait(parts_.query())).empty());
}

}  // namespace
}  // namespace varve::async_typed_table_test
