// Goal: a verb under way while an entity ends judges it at one moment: it commits before the end, or not at all (E1, E2).
// Method: the store has no block cache, so that a verb reads the entity from its file. The read waits while the clock
// moves on or another verb runs.
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "tests/api/uneven_text.h"
#include "varve/options.h"
#include "varve/queue.h"
#include "varve/store_transaction.h"

namespace varve::overtaken_expiry_test {
namespace {

using namespace test;
using std::chrono::seconds;

class OvertakenExpiry : public ::testing::Test {
 protected:
  OvertakenExpiry() {
    ResourceOptions resources;
    resources.block_cache_bytes = 0;
    StoreOptions options = bench_.options();
    options.resources = *Resources::create(resources);
    bench_.open(options);
    EXPECT_EQ(said(store().create_account(kAccount)), kFine);
    sessions_ = *store().create_table(kAccount, "Sessions", {.expiry = TableExpiry::after(seconds(10))});
    people_ = *store().create_table(kAccount, "People");
    queue_ = *store().create_queue(kAccount, "queue");
    EXPECT_EQ(said(people_->insert(with_value("q", "w", "v"))), kFine);
    EXPECT_TRUE(queue_->put("first").ok());
    // The entity lies in another block than all other rows that the verbs read.
    for (const char* around : {"A", "c"}) {
      for (int i = 100; i < 250; ++i) {
        EXPECT_EQ(said(sessions_->insert(
                      with_value("p", around + std::to_string(i), uneven_text(1'000, static_cast<std::uint32_t>(i))))),
                  kFine);
      }
    }
    EXPECT_EQ(said(sessions_->insert(with_value("p", "a", "v"))), kFine);
    EXPECT_EQ(said(store().compact()), kFine);
    EXPECT_EQ(value_in(sessions(), "p", "a"), "v");  // Reads index and filter, which stay in memory.
    own_ = reads_of(sessions(), "p", "a");
    for (const Read& other : reads_of(*people_, "q", "w")) own_.erase(other);
    for (const Read& other : reads_of(sessions(), "p", "A100")) own_.erase(other);
    EXPECT_EQ(own_.size(), 1u);
  }

  Store& store() { return *bench_.store; }
  Table& sessions() { return *sessions_; }
  io::MemoryFileSystem& files() { return *bench_.machine.files; }
  void pass(int for_seconds) { bench_.machine.clock.advance(seconds(for_seconds)); }

  using Read = std::pair<std::string, std::uint64_t>;  // of a file, from an offset on
  std::set<Read> reads_of(const Table& table, std::string_view partition_key, std::string_view row_key) {
    std::set<Read> reads;
    io::FaultRule noting;  // It matches nothing, but sees all reads.
    noting.kind = io::OperationKind::kRead;
    noting.predicate = [&reads](const io::Operation& operation) {
      reads.emplace(operation.name, operation.offset);
      return false;
    };
    files().faults().add(noting);
    EXPECT_NE(value_in(table, partition_key, row_key), "-");
    files().faults().clear();
    return reads;
  }

  /// Runs the verb, and `meanwhile` while its read of the entity's block waits.
  void run_beside(const std::function<void()>& verb, const std::function<void()>& meanwhile) {
    io::FaultRule never;
    never.kind = io::OperationKind::kRead;
    never.predicate = [this](const io::Operation& operation) {
      return own_.contains({std::string(operation.name), operation.offset});
    };
    never.effect = io::FaultEffect::kNever;
    files().faults().add(never);
    io::Thread thread = *bench_.machine.scheduler().start("verb", verb);
    files().await_stuck(1);
    files().faults().clear();
    meanwhile();
    files().let_go();
    thread.join();
  }

  StoreBench bench_{43, OneThreadAtATime{}};
  std::optional<Table> sessions_;
  std::optional<Table> people_;
  std::optional<Queue> queue_;
  std::set<Read> own_;
};

TEST_F(OvertakenExpiry, AReadThatBeganBeforeTheEndFindsTheEntity) {
  Result<std::optional<Entity>> found = std::optional<Entity>();
  run_beside([&] { found = sessions().get("p", "a"); }, [&] { pass(20); });
  ASSERT_EQ(said(found), kFine);
  EXPECT_TRUE(found->has_value());
  EXPECT_EQ(value_in(sessions(), "p", "a"), "-");
}

TEST_F(OvertakenExpiry, AReadBesideAWriteThatMovesTheEndFindsTheEntity) {
  Result<std::optional<Entity>> found = std::optional<Entity>();
  run_beside([&] { found = sessions().get("p", "a"); },
             [&] {
               pass(5);
               ASSERT_EQ(said(sessions().merge(with_value("p", "a", "again"), ETag::any())), kFine);
               pass(8);  // The first end has passed, and the second has not.
             });
  ASSERT_EQ(said(found), kFine);
  EXPECT_TRUE(found->has_value()) << "it existed all the time";
  EXPECT_EQ(value_in(sessions(), "p", "a"), "again");
}

TEST_F(OvertakenExpiry, AWriteThatRestsOnAnEntityIsNotCommittedAfterItsEnd) {
  Status written;
  run_beside([&] { written = sessions().merge(with_value("p", "a", "late"), ETag::any()).status(); },
             [&] { pass(20); });
  EXPECT_EQ(said(written), (Said{Code::kBusy, ""})) << written.to_string();
  EXPECT_EQ(value_in(sessions(), "p", "a"), "-");
  EXPECT_EQ(said(sessions().merge(with_value("p", "a", "late"), ETag::any())),
            (Said{Code::kNotFound, "ResourceNotFound"}));
}

TEST_F(OvertakenExpiry, ATransactionThatRestsOnAnEntityIsNotCommittedAfterItsEnd) {
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE((*transaction->get(sessions(), "p", "a")).has_value());
  transaction->insert(*people_, with_value("q", "a", "v"));
  Status written;
  run_beside([&] { written = transaction->commit().status(); }, [&] { pass(20); });
  EXPECT_EQ(said(written), (Said{Code::kConflict, ""})) << written.to_string();
  EXPECT_EQ(value_in(*people_, "q", "a"), "-");
}

TEST_F(OvertakenExpiry, ATransactionThatChecksARangeIsNotCommittedAfterAnEndInTheRange) {
  Result<StoreTransaction> transaction = store().begin_transaction();
  Scan scan;
  scan.range = ScanRange::rows("p", "a", "b");
  const Result<Page> page = transaction->scan_checked(sessions(), scan);
  ASSERT_EQ(said(page), kFine);
  ASSERT_EQ(page->entities.size(), 1u);
  transaction->insert(*people_, with_value("q", "a", "v"));
  Status written;
  run_beside([&] { written = transaction->commit().status(); }, [&] { pass(20); });
  EXPECT_EQ(said(written), (Said{Code::kConflict, ""})) << written.to_string();
  EXPECT_EQ(value_in(*people_, "q", "a"), "-");
}

TEST_F(OvertakenExpiry, ASecondAttemptOfATransactionJudgesByTheTimeOfItsBeginning) {
  pass(20);
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_FALSE((*transaction->get(sessions(), "p", "a")).has_value());
  transaction->insert(*people_, with_value("q", "a", "v")).put(*queue_, "about a");
  const std::uint64_t refused = (*store().statistics()).commits_refused;
  Status written;
  run_beside([&] { written = transaction->commit().status(); }, [&] { EXPECT_EQ(said(queue_->clear()), kFine); });
  EXPECT_EQ(said(written), kFine) << written.to_string();
  EXPECT_GT((*store().statistics()).commits_refused, refused) << "there was one attempt only";
  EXPECT_EQ(value_in(*people_, "q", "a"), "v");
}

TEST_F(OvertakenExpiry, ASecondAttemptOfATransactionStillSeesWhatEnded) {
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE((*transaction->get(sessions(), "p", "a")).has_value());
  transaction->insert(*people_, with_value("q", "a", "v")).put(*queue_, "about a");
  Status written;
  run_beside([&] { written = transaction->commit().status(); },
             [&] {
               EXPECT_EQ(said(queue_->clear()), kFine);
               pass(20);
               EXPECT_EQ(said(store().compact()), kFine);
             });
  EXPECT_EQ(said(written), (Said{Code::kConflict, ""})) << written.to_string();
  EXPECT_EQ(value_in(*people_, "q", "a"), "-");
}

}  // namespace
}  // namespace varve::overtaken_expiry_test
