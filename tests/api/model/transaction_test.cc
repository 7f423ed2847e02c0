#include <gtest/gtest.h>

#include "api/model/entity_codec.h"
#include "tests/api/store_bench.h"
#include "varve/limits.h"

namespace varve::transaction_test {
namespace {

using namespace test;

/// A refusal and the operation that it blames.
struct Blame {
  Said said;
  std::optional<std::uint32_t> index;
  bool operator==(const Blame&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Blame& blame) {
  out << blame.said << " at ";
  return blame.index ? out << *blame.index : out << "none";
}

class Transactions : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }

  Table& table() { return *table_; }
  Blame blame(const EntityGroupTransaction& transaction) {
    const Status status = table().execute(transaction).status();
    return {said(status), status.operation_index()};
  }
  std::vector<std::string> everything() { return keys_of(*table().scan(Scan{})); }

  static EntityGroupTransaction inserts(int count) {
    EntityGroupTransaction transaction;
    for (int i = 0; i < count; ++i) transaction.insert(with_value("p", std::to_string(i), "x"));
    return transaction;
  }

  using Keys = std::vector<std::string>;
  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(Transactions, T01_OfOneAndOfAHundredOperationsHappen) {
  EXPECT_EQ(blame(inserts(1)), (Blame{kFine, std::nullopt}));
  ASSERT_TRUE(table().remove("p", "0", ETag::any()).ok());
  EXPECT_EQ(blame(inserts(99)), (Blame{kFine, std::nullopt}));
  for (int i = 0; i < 99; ++i) ASSERT_TRUE(table().remove("p", std::to_string(i), ETag::any()).ok());
  EXPECT_EQ(blame(inserts(100)), (Blame{kFine, std::nullopt}));
  EXPECT_EQ(everything().size(), 100u);
}

TEST_F(Transactions, T08_MoreThanAHundredOperationsAreRefusedAtIndex99) {
  EXPECT_EQ(blame(inserts(101)), (Blame{kInvalidInput, 99}));
  EXPECT_EQ(blame(inserts(500)), (Blame{kInvalidInput, 99}));
  EXPECT_EQ(everything(), Keys{});
}

TEST_F(Transactions, T01_WithoutAnOperationAreRefused) {
  EXPECT_EQ(blame(EntityGroupTransaction()), (Blame{kInvalidInput, std::nullopt}));
}

TEST_F(Transactions, T01_AllKindsTogetherEachWithItsETag) {
  const ETag replaced = *table().insert(with_value("p", "replaced", "1"));
  ASSERT_TRUE(table().insert(with_value("p", "merged", "1")).ok());
  ASSERT_TRUE(table().insert(with_value("p", "removed", "1")).ok());
  EntityGroupTransaction transaction;
  transaction.insert(with_value("p", "inserted", "2"))
      .replace(with_value("p", "replaced", "2"), replaced)
      .merge(Entity("p", "merged").set("More", 2), ETag::any())
      .insert_or_replace(with_value("p", "upserted", "2"))
      .remove("p", "removed", ETag::any())
      .insert_or_merge(with_value("p", "upmerged", "2"));
  const Result<std::vector<ETag>> etags = table().execute(transaction);
  ASSERT_TRUE(etags.ok()) << etags.status().to_string();
  ASSERT_EQ(etags->size(), 6u);
  EXPECT_TRUE((*etags)[4].is_none());
  for (const std::size_t i : {0u, 1u, 2u, 3u, 5u}) {
    EXPECT_EQ((*etags)[i], read(table(), "p", transaction.operations()[i].entity.row_key())->etag()) << i;
  }
  EXPECT_EQ(value_in(table(), "p", "merged"), "1");
  EXPECT_EQ(*read(table(), "p", "merged")->get<std::int32_t>("More"), 2);
  EXPECT_EQ(value_in(table(), "p", "removed"), "-");
  EXPECT_EQ(value_in(table(), "p", "replaced"), "2");
}

TEST_F(Transactions, T05_TheFirstFailingOperationDecidesAndNothingIsWritten) {
  const ETag etag = *table().insert(with_value("p", "there", "1"));
  const ETag other = *table().insert(with_value("p", "other", "1"));
  struct Case {
    EntityGroupTransaction failing;
    Said said;
  };
  std::vector<Case> cases(6);
  cases[0].failing.insert(with_value("p", "there", "2"));
  cases[0].said = kEntityAlreadyExists;
  cases[1].failing.replace(with_value("p", "absent", "2"), ETag::any());
  cases[1].said = kResourceNotFound;
  cases[2].failing.merge(with_value("p", "there", "2"), other);
  cases[2].said = kUpdateConditionNotSatisfied;
  cases[3].failing.remove("p", "absent", ETag::any());
  cases[3].said = kResourceNotFound;
  cases[4].failing.remove("p", std::string(1025, 'k'), ETag::any());
  cases[4].said = kResourceNotFound;
  cases[5].failing.replace(with_value("p", "there", "2"), other);
  cases[5].said = kUpdateConditionNotSatisfied;
  for (std::size_t which = 0; which < cases.size(); ++which) {
    for (std::uint32_t place = 0; place < 5; ++place) {
      SCOPED_TRACE("case " + std::to_string(which) + " at " + std::to_string(place));
      EntityGroupTransaction transaction;
      const auto fill = [&](std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
          transaction.insert_or_merge(with_value("p", "new" + std::to_string(transaction.size()), "2"));
        }
      };
      fill(place);
      const WriteOperation& bad = cases[which].failing.operations()[0];
      switch (bad.kind) {
        case WriteOperation::Kind::kInsert: transaction.insert(bad.entity); break;
        case WriteOperation::Kind::kReplace: transaction.replace(bad.entity, bad.if_match); break;
        case WriteOperation::Kind::kMerge: transaction.merge(bad.entity, bad.if_match); break;
        default: transaction.remove("p", bad.entity.row_key(), bad.if_match); break;
      }
      fill(4 - place);
      // A later failure of another kind is not the one that is reported.
      transaction.replace(with_value("p", "absent later", "2"), ETag::any());
      EXPECT_EQ(blame(transaction), (Blame{cases[which].said, place}));
      EXPECT_EQ(everything(), (Keys{"p/other", "p/there"}));
      EXPECT_EQ(read(table(), "p", "there")->etag(), etag);
    }
  }
}

TEST_F(Transactions, T06_AnotherPartitionIsRefusedAtTheFirstThatDeviates) {
  EntityGroupTransaction transaction = inserts(3);
  transaction.insert(with_value("q", "r", "x")).insert(with_value("r", "r", "x"));
  EXPECT_EQ(blame(transaction), (Blame{kDifferentPartitions, 3}));
  EXPECT_EQ(everything(), Keys{});
}

TEST_F(Transactions, T07_TheSameEntityTwiceIsRefusedAtTheSecond) {
  EntityGroupTransaction transaction = inserts(3);
  transaction.remove("p", "1", ETag::any()).insert(with_value("p", "0", "x"));
  EXPECT_EQ(blame(transaction), (Blame{kInvalidDuplicateRow, 3}));
  EntityGroupTransaction by_case;
  by_case.insert(with_value("p", "a", "x")).insert(with_value("p", "A", "x"));
  EXPECT_EQ(blame(by_case), (Blame{kFine, std::nullopt}));
}

/// Returns an entity of exactly this many encoded bytes, at least 80,000.
Entity entity_of(const std::string& row, std::size_t bytes) {
  Entity entity("p", row);
  for (int number = 100;; ++number) {
    const std::string name = "N" + std::to_string(number);
    const std::size_t missing = bytes - encoded_size_bytes(entity);
    const std::size_t around = 8 + name.size();
    if (missing <= around + 60'000) return entity.add(name, Binary{std::string(missing - around, 'b')});
    entity.add(name, Binary{std::string(60'000 - around, 'b')});
  }
}

TEST_F(Transactions, T09_X20_AreBoundedByTheirEncodedSizeAndRefusedAtTheOperationThatPassesIt) {
  for (const std::size_t over : {0u, 1u}) {
    SCOPED_TRACE(over);
    EntityGroupTransaction transaction;
    for (int i = 0; i < 4; ++i) transaction.insert_or_replace(entity_of(std::to_string(i), 1'000'000));
    transaction.insert_or_replace(entity_of("4", limits::kTransactionBytesMax - 4'000'000 + over));
    EXPECT_EQ(blame(transaction), over == 0 ? (Blame{kFine, std::nullopt}) : (Blame{kRequestBodyTooLarge, 4}));
  }
}

TEST_F(Transactions, X20_TextsCountOneByteForEachAsciiLetter) {
  for (const std::size_t letters : {21'000u, 30'000u, 32'768u}) {
    EntityGroupTransaction transaction;
    for (int i = 0; i < 100; ++i) {
      transaction.insert_or_replace(with_value("p", std::to_string(i), std::string(letters, 'x')));
    }
    EXPECT_EQ(blame(transaction), (Blame{kFine, std::nullopt})) << letters;
  }
}

TEST_F(Transactions, T10_AMissingTableIsToldAtIndexZero) {
  ASSERT_TRUE(bench_.store->drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(blame(inserts(3)), (Blame{kTableNotFound, 0}));
}

TEST_F(Transactions, X05_TheWholeIsJudgedBeforeAnyOperation) {
  // Operation 0 has a bad name, operation 1 a failing condition, and the whole has a row twice.
  EntityGroupTransaction transaction;
  transaction.insert(Entity("p", "a").set("1bad", 1)).replace(with_value("p", "b", "x"), ETag::any());
  EXPECT_EQ(blame(transaction), (Blame{kPropertyNameInvalid, 0}));
  transaction.insert(with_value("p", "b", "x"));
  EXPECT_EQ(blame(transaction), (Blame{kInvalidDuplicateRow, 2}));
  transaction.insert(with_value("q", "c", "x"));
  EXPECT_EQ(blame(transaction), (Blame{kDifferentPartitions, 3}));
  for (int i = 0; i < 97; ++i) transaction.insert(with_value("p", "n" + std::to_string(i), "x"));
  EXPECT_EQ(blame(transaction), (Blame{kInvalidInput, 99}));
}

TEST_F(Transactions, O07_WhatAnOperationBringsIsJudgedBeforeTheTableAndTheConditions) {
  EntityGroupTransaction transaction;
  transaction.replace(with_value("p", "absent", "x"), ETag::any())
      .replace(with_value("p", "other", "x"), ETag())
      .insert(Entity("p", "bad").set("V", std::string(40'000, 'x')));
  EXPECT_EQ(blame(transaction), (Blame{kInvalidInput, 1}));
  ASSERT_TRUE(bench_.store->drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(blame(transaction), (Blame{kInvalidInput, 1}));
}

TEST_F(Transactions, T05_ARefusedMergeInTheMiddleLeavesEarlierMergesUndone) {
  Entity full("p", "full");
  for (int i = 0; i < 252; ++i) full.add("N" + std::to_string(i), i);
  ASSERT_TRUE(table().insert(full).ok());
  ASSERT_TRUE(table().insert(with_value("p", "a", "1")).ok());
  EntityGroupTransaction transaction;
  transaction.merge(with_value("p", "a", "2"), ETag::any())
      .insert(with_value("p", "b", "2"))
      .insert_or_merge(Entity("p", "full").set("One", 1));
  EXPECT_EQ(blame(transaction), (Blame{kTooManyProperties, 2}));
  EXPECT_EQ(value_in(table(), "p", "a"), "1");
  EXPECT_EQ(value_in(table(), "p", "b"), "-");
}

TEST_F(Transactions, ATransactionMayBeExecutedAgain) {
  EntityGroupTransaction transaction;
  transaction.insert_or_merge(with_value("p", "a", "1"));
  const Result<std::vector<ETag>> first = table().execute(transaction);
  const Result<std::vector<ETag>> second = table().execute(transaction);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GT((*second)[0].timestamp(), (*first)[0].timestamp());
  transaction.clear();
  EXPECT_TRUE(transaction.empty());
}

TEST_F(Transactions, T03_AllOfATransactionHasOneTimestampAndOneTag) {
  WriteOptions tagged;
  tagged.tag = "applied";
  ASSERT_TRUE(table().execute(inserts(10), tagged).ok());
  const Result<Page> page = table().scan(Scan{});
  for (const Entity& entity : page->entities) EXPECT_EQ(entity.etag(), page->entities[0].etag());
  EXPECT_EQ(*bench_.store->last_tag(), "applied");
}

}  // namespace
}  // namespace varve::transaction_test
