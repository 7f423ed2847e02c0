// Goal: a typed transaction reads and writes structs as StoreTransaction does with entities, under its checks.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/typed_table.h"

namespace varve::typed_transaction_test {
namespace {

struct Account {
  std::string bank;
  std::string number;
  std::int64_t balance = 0;
  std::optional<std::string> owner;
  ETag etag;
};

struct Posting {
  std::string bank;
  std::string number;
  std::int64_t amount = 0;
};

}  // namespace
}  // namespace varve::typed_transaction_test

namespace varve {

template <>
inline constexpr auto mapping<typed_transaction_test::Account> =
    mapped::members(mapped::partition_key(&typed_transaction_test::Account::bank),
                    mapped::row_key(&typed_transaction_test::Account::number),
                    mapped::property("Balance", &typed_transaction_test::Account::balance),
                    mapped::property("Owner", &typed_transaction_test::Account::owner),
                    mapped::etag(&typed_transaction_test::Account::etag));
template <>
inline constexpr auto mapping<typed_transaction_test::Posting> =
    mapped::members(mapped::partition_key(&typed_transaction_test::Posting::bank),
                    mapped::row_key(&typed_transaction_test::Posting::number),
                    mapped::property("Amount", &typed_transaction_test::Posting::amount));

}  // namespace varve

namespace varve::typed_transaction_test {
namespace {

using namespace test;

class TypedTransactionTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(said(accounts_.insert(Account{"b", "1", 100, "Ann", {}})), kFine);
    ASSERT_EQ(said(accounts_.insert(Account{"b", "2", 0, "Bob", {}})), kFine);
  }
  StoreTransaction begin() {
    Result<StoreTransaction> begun = bench_.store->begin_transaction();
    EXPECT_TRUE(begun.ok()) << begun.status().to_string();
    return *std::move(begun);
  }
  Account account(std::string_view number) {
    Result<std::optional<Account>> found = accounts_.get("b", number);
    EXPECT_TRUE(found.ok() && found->has_value());
    return found.ok() && found->has_value() ? **found : Account();
  }

  StoreBench bench_;
  TypedTable<Account> accounts_{bench_.table("Accounts")};
  TypedTable<Posting> postings_{bench_.table("Postings")};
};

TEST_F(TypedTransactionTest, StructsOfTwoTablesAreWrittenInOneCommit) {
  StoreTransaction transaction = begin();
  TypedTransaction accounts(transaction, accounts_);
  TypedTransaction postings(transaction, postings_);
  Result<std::optional<Account>> from = accounts.get("b", "1");
  Result<std::optional<Account>> to = accounts.get("b", "2");
  ASSERT_TRUE(from.ok() && from->has_value() && to.ok() && to->has_value());
  (*from)->balance -= 40;
  (*to)->balance += 40;
  EXPECT_EQ(said(accounts.replace(**from)), kFine);
  EXPECT_EQ(said(accounts.merge(**to)), kFine);
  EXPECT_EQ(said(postings.insert({"b", "p1", 40})), kFine);
  const Result<std::vector<ETag>> etags = transaction.commit();
  ASSERT_TRUE(etags.ok()) << etags.status().to_string();
  EXPECT_EQ(account("1").balance, 60);
  EXPECT_EQ(account("2").balance, 40);
  EXPECT_EQ(account("2").etag, etags->front());
  EXPECT_TRUE((*postings_.get("b", "p1")).has_value());
}

TEST_F(TypedTransactionTest, AStructThatWasReadMustNotHaveChanged) {
  StoreTransaction transaction = begin();
  TypedTransaction accounts(transaction, accounts_);
  ASSERT_TRUE(accounts.get("b", "1").ok());
  Account changed = account("1");
  changed.balance = 7;
  ASSERT_EQ(said(accounts_.replace(changed)), kFine);
  EXPECT_EQ(said(accounts.insert(Account{"b", "3", 1, {}, {}})), kFine);
  EXPECT_EQ(transaction.commit().status().code(), Code::kConflict);
}

TEST_F(TypedTransactionTest, ARangeThatWasCheckedMustNotHaveChanged) {
  Query<Account> rich;
  rich.in(ScanRange::partition("b")).where(field<&Account::balance>() >= std::int64_t{100});
  for (const bool changes : {false, true}) {
    StoreTransaction transaction = begin();
    TypedTransaction accounts(transaction, accounts_);
    const Result<TypedPage<Account>> page = accounts.scan_checked(rich);
    ASSERT_EQ(said(page), kFine);
    ASSERT_EQ(page->objects.size(), 1u);
    EXPECT_EQ(page->objects.front().number, "1");
    EXPECT_EQ(page->objects.front().etag, account("1").etag);
    EXPECT_FALSE(page->continuation);
    EXPECT_EQ(page->cost.entities_examined, 2u);
    if (changes) {
      ASSERT_EQ(said(accounts_.insert(Account{"b", "3", 100, {}, {}})), kFine);
    }
    EXPECT_EQ(said(accounts.insert(Account{"other", "1", 1, {}, {}})), kFine);
    EXPECT_EQ(transaction.commit().status().code(), changes ? Code::kConflict : Code::kOk);
    if (!changes) {
      ASSERT_EQ(said(accounts_.table().remove("other", "1", ETag::any())), kFine);
    }
  }
}

TEST_F(TypedTransactionTest, ACheckedRangeComesInPages) {
  ASSERT_EQ(said(accounts_.insert(Account{"b", "3", 5, {}, {}})), kFine);
  StoreTransaction transaction = begin();
  TypedTransaction accounts(transaction, accounts_);
  Query<Account> query;
  query.in(ScanRange::partition("b")).page_entities(1).take(2);
  const Result<TypedPage<Account>> first = accounts.scan_checked(query);
  ASSERT_EQ(said(first), kFine);
  ASSERT_TRUE(first->continuation);
  ASSERT_EQ(first->objects.size(), 1u);
  const Result<TypedPage<Account>> second = accounts.scan_checked(query.continue_from(*first->continuation));
  ASSERT_EQ(said(second), kFine);
  ASSERT_EQ(second->objects.size(), 1u);
  EXPECT_EQ(second->objects.front().number, "2");
  EXPECT_FALSE(second->continuation) << "take() counts in all pages together";
  // The pages cover nothing after the second entity.
  ASSERT_EQ(said(accounts_.table().remove("b", "3", ETag::any())), kFine);
  EXPECT_EQ(said(accounts.insert(Account{"other", "1", 1, {}, {}})), kFine);
  EXPECT_EQ(said(transaction.commit()), kFine);
}

TEST_F(TypedTransactionTest, ACheckedRangeReportsWhatItCannotDo) {
  StoreTransaction transaction = begin();
  TypedTransaction accounts(transaction, accounts_);
  EXPECT_EQ(said(accounts.scan_checked(Query<Account>())), kInvalidInput) << "several partitions";
  Query<Account> all;
  all.in(ScanRange::partition("b"));
  EXPECT_EQ(said(accounts.scan_checked(Query<Account>(all).at(*bench_.store->snapshot()))), kInvalidInput);
  ASSERT_EQ(said(accounts_.table().insert(Entity("b", "4").add("Balance", "a text"))), kFine);
  StoreTransaction later = begin();
  TypedTransaction mistyped(later, accounts_);
  EXPECT_EQ(mistyped.scan_checked(all).status().code(), Code::kInvalidArgument);
  ASSERT_EQ(said(accounts_.table().remove("b", "4", ETag::any())), kFine);
  EXPECT_EQ(said(mistyped.insert(Account{"other", "1", 1, {}, {}})), kFine);
  EXPECT_EQ(later.commit().status().code(), Code::kConflict) << "the range is checked nevertheless";
}

TEST_F(TypedTransactionTest, WritesWithoutAConditionRequireTheETagOfTheStruct) {
  const Account stale = account("1");
  ASSERT_EQ(said(accounts_.replace(Account(stale), stale.etag)), kFine);
  using Kind = WriteOperation::Kind;
  for (const Kind kind : {Kind::kReplace, Kind::kMerge, Kind::kRemove}) {
    StoreTransaction transaction = begin();
    TypedTransaction accounts(transaction, accounts_);
    EXPECT_EQ(said(accounts.add(kind, stale, stale.etag)), kFine);
    EXPECT_EQ(said(transaction.commit()), kUpdateConditionNotSatisfied);
  }
  StoreTransaction transaction = begin();
  TypedTransaction accounts(transaction, accounts_);
  EXPECT_EQ(said(accounts.remove(stale)), kFine);
  EXPECT_EQ(said(accounts.insert_or_merge(Account{"b", "2", 9, {}, {}})), kFine);
  EXPECT_EQ(said(transaction.commit()), kUpdateConditionNotSatisfied);
  StoreTransaction again = begin();
  TypedTransaction writes(again, accounts_);
  EXPECT_EQ(said(writes.remove(stale, ETag::any())), kFine);
  EXPECT_EQ(said(writes.insert_or_merge(Account{"b", "2", 9, {}, {}})), kFine);
  EXPECT_EQ(said(again.commit()), kFine);
  EXPECT_FALSE((*accounts_.get("b", "1")).has_value());
  EXPECT_EQ(account("2").owner, "Bob");
}

}  // namespace
}  // namespace varve::typed_transaction_test
