// Goal: an attempt to commit a transaction keeps what the transaction saw if another attempt may follow, and only then.
// Method: the commit of the first attempt also names a dropped table, so the engine refuses it after it was judged. Then the
// entity that the transaction read ends, and a compaction removes what no snapshot needs.
#include "api/write/transaction_change.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/catalog/catalog.h"
#include "api/commit/commit.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "api/write/entity_write.h"
#include "format/keys/sort_key.h"
#include "tests/api/store_bench.h"

namespace varve::test::transaction_change_test {
namespace {

using std::chrono::seconds;

class TransactionChanges : public ::testing::Test {
 protected:
  void SetUp() override {
    const StoreOptions options = bench_.options();
    Result<std::shared_ptr<StoreCore>> opened = StoreCore::open(kStorePath, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    core_ = *std::move(opened);
    ASSERT_EQ(said(core_->catalog().create_account(kAccount)), kFine);
    ASSERT_EQ(said(core_->catalog().create_table(sessions_, {.expiry = TableExpiry::after(seconds(10))})), kFine);
    entry_ = core_->catalog().names().find_or_add(sessions_.account, sessions_.lower);
    // Most rows of the table file are those of entities that end, so that a compaction rewrites it.
    for (int i = 0; i < 20; ++i) {
      std::vector<PreparedWrite> writes{insert_of("p", "a" + std::to_string(i))};
      ASSERT_EQ(said(commit_writes(*core_, sessions_, *entry_, writes, WriteOptions(), false)), kFine);
    }
    ASSERT_EQ(said(core_->engine().compact()), kFine);
  }
  void TearDown() override {
    if (core_) {
      EXPECT_EQ(said(core_->close()), kFine);
    }
  }

  PreparedWrite insert_of(std::string_view partition, std::string_view row) {
    const WriteOperation operation = WriteOperation::insert(with_value(partition, row, "v"));
    Result<PreparedWrite> write = prepare_write(Grant(), operation, core_->limits());
    EXPECT_TRUE(write.ok()) << write.status().to_string();
    return *std::move(write);
  }
  format::TableId dropped_table() {
    const TableName gone{std::string(kAccount), "Gone", "gone"};
    EXPECT_EQ(said(core_->catalog().create_table(gone)), kFine);
    const Result<format::TableId> dropped = core_->catalog().drop_table(gone.account, gone.lower);
    EXPECT_EQ(said(dropped), kFine);
    return *dropped;
  }

  void begin() {
    snapshot_ = core_->snapshot();
    began_at_ = snapshot_.version();
    began_time_ = StoreCore::time_of(snapshot_);
  }
  /// Makes one attempt to insert q/b in the transaction, which read p/a0. The commit also names these tables.
  Result<engine::CommitVersion> attempt(bool may_be_repeated, std::vector<format::TableId> tables) {
    const WriteTarget target = *core_->catalog().resolve_target(sessions_, *entry_);
    std::vector<PreparedWrite> writes{insert_of("q", "b")};
    place_writes(writes, target);
    tables.push_back(target.id);
    sort_and_deduplicate(tables);
    const std::vector<TransactionRead> reads{{key_in(target.id), false}};
    WriteOptions options;
    TransactionChange change(*core_, std::move(tables), writes, options,
                             {reads, {}, snapshot_, began_at_, began_time_, {}, may_be_repeated}, nullptr);
    return commit(core_->backend(), change);
  }
  static std::string key_in(format::TableId table) { return *format::encode_sort_key(table, "p", "a0"); }
  /// Returns the version of the newest entry of p/a0 that the store still has; zero: it has none.
  engine::CommitVersion newest_version() {
    const engine::ReadView view = core_->backend().view();
    const format::TableId table = *Catalog::resolve_at(view, sessions_);
    const Result<engine::Newest> newest = view.newest(key_in(table), engine::EntryPart::kVersion);
    EXPECT_EQ(said(newest), kFine);
    return newest->version;
  }

  StoreBench bench_;
  std::shared_ptr<StoreCore> core_;
  const TableName sessions_{std::string(kAccount), "Sessions", "sessions"};
  std::shared_ptr<NameEntry> entry_;
  Snapshot snapshot_;
  DateTime began_at_;
  engine::CommitVersion began_time_ = 0;
};

TEST_F(TransactionChanges, AnAttemptThatMayBeRepeatedKeepsWhatTheTransactionSaw) {
  const format::TableId gone = dropped_table();
  begin();
  EXPECT_EQ(said(attempt(true, {gone})), kTableNotFound) << "it was judged, and the entity had not ended";
  bench_.machine.clock.advance(seconds(20));
  ASSERT_EQ(said(core_->engine().compact()), kFine);
  const Result<engine::CommitVersion> last = attempt(false, {});
  EXPECT_EQ(said(last), (Said{Code::kConflict, ""})) << "the entity that it read has ended since";
  EXPECT_NE(newest_version(), 0U);
  // Only the snapshot kept the entity.
  snapshot_ = Snapshot();
  ASSERT_EQ(said(core_->engine().compact()), kFine);
  EXPECT_EQ(newest_version(), 0U);
}

TEST_F(TransactionChanges, TheLastAttemptKeepsNothing) {
  begin();
  EXPECT_EQ(said(attempt(false, {})), kFine);
  bench_.machine.clock.advance(seconds(20));
  ASSERT_EQ(said(core_->engine().compact()), kFine);
  EXPECT_EQ(newest_version(), 0U) << "the snapshot was released before the commit";
}

}  // namespace
}  // namespace varve::test::transaction_change_test
