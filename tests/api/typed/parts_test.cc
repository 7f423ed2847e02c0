// Goal: transactions are checked before they are executed, long lists become valid transactions, and only transactions
// without an effect are repeated.
// Method: lists at and above each limit; failures in the middle.
#include "varve/parts.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/api/store_bench.h"
#include "varve/if_exists.h"
#include "varve/limits.h"
#include "varve/retry.h"

namespace varve::parts_test {
namespace {

using namespace test;

EntityGroupTransaction inserts(int count, std::string_view partition = "p", int first = 0) {
  EntityGroupTransaction transaction;
  for (int i = 0; i < count; ++i) transaction.insert(with_value(partition, std::to_string(first + i), "v"));
  return transaction;
}

void expect_same_as_the_store(const EntityGroupTransaction& transaction) {
  StoreBench bench;
  Table table = bench.table();
  const Status before = check_transaction(transaction.operations());
  const Status executed = table.execute(transaction).status();
  EXPECT_EQ(said(before), said(executed));
  EXPECT_EQ(before.operation_index(), executed.operation_index());
}

TEST(JudgedBefore, C09_AreJudgedAsAWholeBeforeTheyAreExecuted) {
  const EntityGroupTransaction most = inserts(100);
  EXPECT_TRUE(check_transaction(most.operations()).ok());
  const EntityGroupTransaction too_many = inserts(101);
  const Status many = check_transaction(too_many.operations());
  EXPECT_EQ(said(many), kInvalidInput);
  EXPECT_EQ(many.operation_index(), 99U);
  EXPECT_EQ(said(check_transaction({})), kInvalidInput);

  EntityGroupTransaction two_partitions = inserts(3);
  two_partitions.insert(with_value("q", "x", "v"));
  EXPECT_EQ(said(check_transaction(two_partitions.operations())), kDifferentPartitions);
  EXPECT_EQ(check_transaction(two_partitions.operations()).operation_index(), 3U);

  EntityGroupTransaction twice = inserts(3);
  twice.remove("p", "1", ETag::any());
  EXPECT_EQ(said(check_transaction(twice.operations())), kInvalidDuplicateRow);
  EXPECT_EQ(check_transaction(twice.operations()).operation_index(), 3U);

  for (const EntityGroupTransaction& transaction : {inserts(100), inserts(101), two_partitions, twice}) {
    expect_same_as_the_store(transaction);
  }
}

TEST(JudgedBefore, C09_TellTheETagOfEachOperation) {
  StoreBench bench;
  Table table = bench.table();
  ASSERT_TRUE(table.insert(with_value("p", "9", "v")).ok());
  EntityGroupTransaction transaction = inserts(2);
  transaction.remove("p", "9", ETag::any());
  const Result<std::vector<ETag>> etags = table.execute(transaction);
  ASSERT_TRUE(etags.ok());
  ASSERT_EQ(etags->size(), 3U);
  EXPECT_EQ((*etags)[1], read(table, "p", "1")->etag());
  EXPECT_TRUE((*etags)[2].is_none());
}

TEST(Parts, C09_AListIsCutByPartitionAndBySize) {
  EntityGroupTransaction list = inserts(150, "p");
  const EntityGroupTransaction others = inserts(30, "q");
  for (const WriteOperation& operation : others.operations()) list.add(operation);
  list.merge(with_value("p", "149", "w"), ETag::any());  // named again, after its insert
  const std::vector<TransactionPart> parts = split_into_parts(list.operations());
  std::vector<std::size_t> sizes;
  std::vector<bool> seen(list.size(), false);
  for (const TransactionPart& part : parts) {
    EXPECT_TRUE(check_transaction(part.transaction.operations()).ok());
    sizes.push_back(part.transaction.size());
    for (const std::size_t place : part.places) {
      EXPECT_FALSE(seen[place]);
      seen[place] = true;
    }
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{100, 50, 30, 1}));
  EXPECT_EQ(parts[3].places, (std::vector<std::size_t>{180}));
}

TEST(Parts, C09_AListIsCutBeforeItsPartsAreTooLarge) {
  EntityGroupTransaction list;
  for (int i = 0; i < 10; ++i) {
    Entity entity("p", std::to_string(i));
    for (int k = 0; k < 15; ++k) entity.set("V" + std::to_string(k), Binary{std::string(65'000, 'x')});
    list.insert(std::move(entity));
  }
  EXPECT_EQ(said(check_transaction(list.operations())), kRequestBodyTooLarge);
  const std::vector<TransactionPart> parts = split_into_parts(list.operations());
  EXPECT_EQ(parts.size(), 3U);
  StoreBench bench;
  Table table = bench.table();
  const PartsOutcome outcome = execute_in_parts(table, list.operations());
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(outcome.etags[static_cast<std::size_t>(i)], read(table, "p", std::to_string(i))->etag());
}

TEST(Parts, C09_AFailureSaysWhichOperationAndWhatHappenedBefore) {
  StoreBench bench;
  Table table = bench.table();
  ASSERT_TRUE(table.insert(with_value("p", "120", "old")).ok());
  EntityGroupTransaction list = inserts(150, "p");
  const EntityGroupTransaction others = inserts(10, "q");
  for (const WriteOperation& operation : others.operations()) list.add(operation);
  const PartsOutcome outcome = execute_in_parts(table, list.operations());
  EXPECT_EQ(said(outcome.status), kEntityAlreadyExists);
  EXPECT_EQ(outcome.status.operation_index(), 120U);
  EXPECT_TRUE(outcome.etags[99].has_value());
  EXPECT_FALSE(outcome.etags[100].has_value()) << "in the part that failed";
  EXPECT_FALSE(outcome.etags[150].has_value()) << "behind it";
  EXPECT_EQ(value_in(table, "p", "99"), "v");
  EXPECT_EQ(value_in(table, "p", "100"), "-");
  EXPECT_EQ(value_in(table, "q", "0"), "-");
}

TEST(Parts, C09_AnEmptyListIsDone) {
  StoreBench bench;
  Table table = bench.table();
  EXPECT_TRUE(execute_in_parts(table, {}).status.ok());
}

TEST(Retry, C11_RepeatsWhatWasBusyAndNothingElse) {
  for (int number = 0; number <= static_cast<int>(Code::kConflict); ++number) {
    const auto code = static_cast<Code>(number);
    int calls = 0;
    std::vector<std::uint32_t> pauses;
    const Status status = retry_busy(
        5,
        [&] {
          ++calls;
          return Status(code, "told");
        },
        [&](std::uint32_t attempt) { pauses.push_back(attempt); });
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(calls, code == Code::kBusy ? 5 : 1) << code_name(code);
    EXPECT_EQ(pauses.size(), static_cast<std::size_t>(calls - 1));
  }
}

TEST(Retry, C11_StopsAtTheFirstOtherAnswer) {
  int calls = 0;
  const Result<int> result = retry_busy(10, [&]() -> Result<int> {
    if (++calls < 4) return Status(Code::kBusy);
    return calls;
  });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, 4);
  EXPECT_EQ(retry_busy(0, [&] { return Status(Code::kBusy); }).code(), Code::kBusy) << "once at least";
}

TEST(IfExists, C01_DeletingWhatIsNotThereIsNoError) {
  StoreBench bench;
  Table table = bench.table();
  const Result<ETag> etag = table.insert(with_value("p", "r", "v"));
  EXPECT_EQ(said(remove_if_exists(table, "p", "r", ETag::of_timestamp(DateTime{5}))), kUpdateConditionNotSatisfied);
  const Result<bool> there = remove_if_exists(table, "p", "r", *etag);
  ASSERT_TRUE(there.ok());
  EXPECT_TRUE(*there);
  const Result<bool> gone = remove_if_exists(table, "p", "r");
  ASSERT_TRUE(gone.ok());
  EXPECT_FALSE(*gone);
  ASSERT_TRUE(bench.store->drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(remove_if_exists(table, "p", "r")), kTableNotFound) << "that is not what was asked for";
}

TEST(IfExists, C10_TablesAndAccountsAreMadeAndDroppedWhetherThereOrNot) {
  StoreBench bench;
  Store& store = bench.open();
  EXPECT_EQ(said(create_table_if_absent(store, "shop", "Orders")), kResourceNotFound);
  ASSERT_TRUE(create_account_if_absent(store, "shop").ok());
  ASSERT_TRUE(create_account_if_absent(store, "shop").ok());
  EXPECT_EQ(said(create_account_if_absent(store, "X")), kInvalidResourceName);
  Result<Table> made = create_table_if_absent(store, "shop", "Orders");
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE(made->insert(with_value("p", "r", "v")).ok());
  const Result<Table> again = create_table_if_absent(store, "shop", "orders");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(value_in(*again, "p", "r"), "v");
  EXPECT_TRUE(*drop_table_if_exists(store, "shop", "Orders"));
  EXPECT_FALSE(*drop_table_if_exists(store, "shop", "Orders"));
  EXPECT_TRUE(*drop_account_if_exists(store, "shop"));
  EXPECT_FALSE(*drop_account_if_exists(store, "shop"));
}

TEST(Handles, C10_TablesAreListedByPrefix) {
  StoreBench bench;
  Store& store = bench.open();
  ASSERT_TRUE(store.create_account("shop").ok());
  for (const std::string_view name : {"Log20260301", "Log20260302", "Orders"}) {
    ASSERT_TRUE(store.create_table("shop", name).ok());
  }
  const Result<TablePage> page = store.list_tables("shop", {.prefix = "log"});
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->tables.size(), 2U);
  EXPECT_EQ(page->tables[1].name, "Log20260302");
}

}  // namespace
}  // namespace varve::parts_test
