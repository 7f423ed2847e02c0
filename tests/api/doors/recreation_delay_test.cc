// Goal: if a store has a recreation delay, the name of a dropped table stays reserved for that time. Everything else is
// as without a delay (B-04, X-11).
// Method: a clock that the test advances. Every way in which a name can be used is tested.
#include <chrono>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/loader.h"

namespace varve::recreation_delay_test {
namespace {

using namespace test;
using std::chrono::milliseconds;

constexpr Said kTableBeingDeleted = {Code::kBusy, "TableBeingDeleted"};
constexpr milliseconds kDelay{40'000};

class RecreationDelay : public testing::Test {
 protected:
  RecreationDelay() {
    open(kDelay);
    EXPECT_TRUE(store().create_account(kAccount).ok());
    EXPECT_TRUE(store().create_table(kAccount, "Orders").ok());
  }

  void open(milliseconds delay) {
    StoreOptions options = bench_.options();
    options.recreation_delay = delay;
    bench_.open(options);
  }
  Store& store() { return *bench_.store; }
  Said create() { return said(store().create_table(kAccount, "ORDERS")); }
  Said load() {
    Result<Loader> loader = store().load_table(kAccount, "Orders");
    if (!loader.ok()) return said(loader);
    if (Status added = loader->add(Entity("p", "r")); !added.ok()) return said(added);
    return said(loader->finish());
  }
  void drop() { ASSERT_EQ(said(store().drop_table(kAccount, "orders")), kFine); }
  void pass(milliseconds time) { bench_.machine.clock.advance(time); }

  StoreBench bench_;
};

TEST_F(RecreationDelay, B04_TheNameIsBusyUntilItsTimeHasCome) {
  drop();
  EXPECT_EQ(create(), kTableBeingDeleted);
  EXPECT_EQ(load(), kTableBeingDeleted);
  pass(kDelay - milliseconds(100));
  EXPECT_EQ(create(), kTableBeingDeleted);
  pass(milliseconds(200));
  EXPECT_EQ(create(), kFine);
  EXPECT_EQ(create(), kTableAlreadyExists);
}

TEST_F(RecreationDelay, B04_TheTableIsGoneAtOnceForReadersAndOtherNamesAreFree) {
  Table table = *store().open_table(kAccount, "Orders");
  drop();
  EXPECT_EQ(said(table.get("p", "r")), kTableNotFound);
  EXPECT_EQ(said(table.insert(Entity("p", "r"))), kTableNotFound);
  EXPECT_EQ(said(store().open_table(kAccount, "Orders")), kTableNotFound);
  EXPECT_TRUE((*store().list_tables(kAccount)).tables.empty());
  EXPECT_EQ(said(store().create_table(kAccount, "Orders2")), kFine);
  ASSERT_TRUE(store().create_account("another").ok());
  EXPECT_EQ(said(store().create_table("another", "Orders")), kFine);
}

TEST_F(RecreationDelay, X11_ASecondDropSaysThatTheNameIsBusyAndLaterThatItIsNotThere) {
  drop();
  EXPECT_EQ(said(store().drop_table(kAccount, "Orders")), kTableBeingDeleted);
  pass(2 * kDelay);
  EXPECT_EQ(said(store().drop_table(kAccount, "Orders")), kResourceNotFound);
}

TEST_F(RecreationDelay, EachDropBeginsItAnew) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    drop();
    EXPECT_EQ(create(), kTableBeingDeleted);
    pass(2 * kDelay);
    EXPECT_EQ(round % 2 == 0 ? create() : load(), kFine);
  }
}

TEST_F(RecreationDelay, OutlivesTheStoreAndACompaction) {
  drop();
  ASSERT_TRUE(store().compact().ok());
  open(kDelay);
  EXPECT_EQ(create(), kTableBeingDeleted);
  pass(2 * kDelay);
  open(kDelay);
  EXPECT_EQ(create(), kFine);
}

TEST_F(RecreationDelay, AStoreOpenedWithoutItDoesNotAsk) {
  drop();
  open(milliseconds(0));
  EXPECT_EQ(create(), kFine);
  drop();
  open(kDelay);
  EXPECT_EQ(create(), kTableBeingDeleted) << "by the note of the first drop, whose time has not come";
}

TEST_F(RecreationDelay, ALoadThatBeganBeforeADropDoesNotTakeTheName) {
  drop();
  pass(2 * kDelay);
  Result<Loader> loader = store().load_table(kAccount, "Orders");
  ASSERT_TRUE(loader.ok());
  ASSERT_TRUE(loader->add(Entity("p", "r")).ok());
  ASSERT_EQ(create(), kFine);
  drop();
  EXPECT_EQ(said(loader->finish()), kTableBeingDeleted);
}

TEST_F(RecreationDelay, IsRefusedOutsideOfItsRange) {
  for (const milliseconds delay : {milliseconds(-1), milliseconds(std::chrono::hours(24)) + milliseconds(1)}) {
    StoreOptions options = bench_.options();
    options.recreation_delay = delay;
    EXPECT_EQ(Store::open(kStorePath, options).status().code(), Code::kInvalidArgument);
  }
}

TEST_F(RecreationDelay, AStoreWithNotesVerifies) {
  drop();
  bench_.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->sound()) << report->findings.front();
}

}  // namespace
}  // namespace varve::recreation_delay_test
