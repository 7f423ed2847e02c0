// The rules of entity group transactions about conditions and about the blamed operation.
#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::transaction_rules_test {
namespace {

using namespace test;

class TransactionRules : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  Table& table() { return *table_; }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(TransactionRules, T04_EveryOperationHasItsOwnConditionJudgedOnTheStateBefore) {
  const Result<ETag> first = table().insert(with_value("p", "1", "a"));
  const Result<ETag> second = table().insert(with_value("p", "2", "a"));
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(table().insert(with_value("p", "3", "a")).ok());
  ASSERT_TRUE(table().insert(with_value("p", "4", "a")).ok());
  EntityGroupTransaction transaction;
  transaction.replace(with_value("p", "1", "b"), *first).merge(with_value("p", "2", "b"), *second);
  transaction.remove("p", "3", ETag::any()).insert_or_replace(with_value("p", "4", "b"));
  transaction.insert(with_value("p", "5", "b")).insert_or_merge(with_value("p", "6", "b"));
  const Result<std::vector<ETag>> etags = table().execute(transaction);
  ASSERT_EQ(said(etags), kFine);
  for (const std::string_view row : {"1", "2", "4", "5", "6"}) EXPECT_EQ(value_in(table(), "p", row), "b") << row;
  EXPECT_EQ(value_in(table(), "p", "3"), "-");
  for (const std::size_t index : {0u, 1u, 3u, 4u, 5u}) EXPECT_FALSE((*etags)[index].is_none()) << index;
  EXPECT_TRUE((*etags)[2].is_none());
}

TEST_F(TransactionRules, T04_AnOperationsConditionIsNotMetByAnotherOperation) {
  ASSERT_TRUE(table().insert(with_value("p", "there", "a")).ok());
  const auto of = [](auto add) {
    EntityGroupTransaction transaction;
    transaction.insert(with_value("p", "new", "x"));
    add(transaction);
    return transaction;
  };
  const ETag stale = ETag::of_timestamp(DateTime{limits::kDateTimeTicksMin});
  const std::vector<std::pair<EntityGroupTransaction, Said>> cases = {
      {of([](auto& t) { t.insert(with_value("p", "there", "x")); }), kEntityAlreadyExists},
      {of([](auto& t) { t.replace(with_value("p", "absent", "x"), ETag::any()); }), kResourceNotFound},
      {of([](auto& t) { t.merge(with_value("p", "absent", "x"), ETag::any()); }), kResourceNotFound},
      {of([](auto& t) { t.remove("p", "absent", ETag::any()); }), kResourceNotFound},
      {of([&](auto& t) { t.replace(with_value("p", "there", "x"), stale); }), kUpdateConditionNotSatisfied},
      {of([&](auto& t) { t.merge(with_value("p", "there", "x"), stale); }), kUpdateConditionNotSatisfied},
      {of([&](auto& t) { t.remove("p", "there", stale); }), kUpdateConditionNotSatisfied},
  };
  for (const auto& [transaction, expected] : cases) {
    const Status status = table().execute(transaction).status();
    EXPECT_EQ(said(status), expected);
    EXPECT_EQ(status.operation_index(), 1u);
    EXPECT_EQ(value_in(table(), "p", "new"), "-");
    EXPECT_EQ(value_in(table(), "p", "there"), "a");
  }
}

TEST_F(TransactionRules, T11_TheIndexIsCountedFromZeroAndNamesTheCulpritWhereverItStands) {
  ASSERT_TRUE(table().insert(with_value("p", "there", "a")).ok());
  for (const std::uint32_t culprit : {0u, 1u, 9u, 10u, 50u, 99u}) {
    EntityGroupTransaction transaction;
    for (std::uint32_t i = 0; i < 100; ++i) {
      transaction.insert(with_value("p", i == culprit ? "there" : "new" + std::to_string(i), "x"));
    }
    const Status status = table().execute(transaction).status();
    EXPECT_EQ(said(status), kEntityAlreadyExists);
    EXPECT_EQ(status.operation_index(), culprit);
  }
  EXPECT_EQ(keys_of(*table().scan(Scan{})), std::vector<std::string>{"p/there"});
  EXPECT_EQ(said(table().insert(with_value("p", "there", "x"))), kEntityAlreadyExists);
  EXPECT_EQ(table().insert(with_value("p", "there", "x")).status().operation_index(), std::nullopt);
}

}  // namespace
}  // namespace varve::transaction_rules_test
