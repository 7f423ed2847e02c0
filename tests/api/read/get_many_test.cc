// Owns: the promises of Table::get_many.
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::get_many_test {
namespace {

using namespace test;

class GetMany : public ::testing::Test {
 protected:
  void SetUp() override {
    table_.emplace(bench_.table());
    for (const char* row : {"1", "2", "3"}) {
      ASSERT_TRUE(table_->insert(with_value("p", row, std::string("of ") + row)).ok());
    }
  }
  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(GetMany, AnswersInTheOrderOfTheKeysAbsentOnesAndRepeatedOnesToo) {
  const std::vector<EntityKey> keys = {{"p", "3"}, {"p", "9"}, {"p", "1"}, {"p", "3"}, {"q", "1"}};
  const auto found = table_->get_many(keys);
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  ASSERT_EQ(found->size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto alone = table_->get(keys[i].partition_key, keys[i].row_key);
    ASSERT_TRUE(alone.ok());
    ASSERT_EQ((*found)[i].has_value(), alone->has_value()) << i;
    if (*alone) {
      EXPECT_EQ((*found)[i]->row_key(), (*alone)->row_key());
      EXPECT_EQ((*found)[i]->etag(), (*alone)->etag());
    }
  }
}

TEST_F(GetMany, OfNoKeysGivesNothing) {
  const auto found = table_->get_many({});
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->empty());
}

TEST_F(GetMany, AForbiddenKeyFailsTheWhole) {
  const std::vector<EntityKey> keys = {{"p", "1"}, {"p", "a/b"}};
  EXPECT_EQ(table_->get_many(keys).code(), Code::kInvalidArgument);
}

TEST_F(GetMany, AKeyTooLongToExistIsNotThere) {
  const std::vector<EntityKey> keys = {{"p", std::string(2000, 'x')}, {"p", "1"}};
  const auto found = table_->get_many(keys);
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_FALSE((*found)[0]);
  EXPECT_TRUE((*found)[1]);
}

TEST_F(GetMany, ReadsOneStateAndTheOneOfASnapshotWhereAsked) {
  const auto snapshot = bench_.store->snapshot();
  ASSERT_TRUE(snapshot.ok());
  ASSERT_TRUE(table_->remove("p", "1", ETag::any()).ok());
  const std::vector<EntityKey> keys = {{"p", "1"}, {"p", "2"}};
  EXPECT_FALSE((*table_->get_many(keys))[0]);
  ReadOptions at;
  at.snapshot = *snapshot;
  EXPECT_TRUE((*table_->get_many(keys, at))[0]);
}

TEST_F(GetMany, OfATableThatIsNotThereIsTableNotFound) {
  ASSERT_TRUE(bench_.store->drop_table(table_->account(), table_->name()).ok());
  const std::vector<EntityKey> keys = {{"p", "1"}};
  EXPECT_EQ(said(table_->get_many(keys)), kTableNotFound);
}

}  // namespace
}  // namespace varve::get_many_test
