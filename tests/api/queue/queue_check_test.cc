// Goal: verification and repair know queues: a sound queue has no finding, and a row that is wrong or missing has one.
// Method: rows are planted or removed past the verbs. A repaired store's queue is compared with the damaged one's.
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/catalog/queue_rows.h"
#include "api/queue/message_rows.h"
#include "format/keys/batch.h"
#include "tests/api/queue/queue_bench.h"
#include "varve/verify.h"

namespace varve::test::queue_check_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// The id of the first queue of the first account.
constexpr format::TableId kQueue = format::make_table_id(1, 1);
constexpr Sequence kPlanted = 7;

class QueueChecks : public testing::Test {
 protected:
  QueueChecks() {
    (void)sent(queue_, "plain");
    (void)sent(queue_, std::string(20'000, 'x'), {.ttl = kNever});
    (void)sent(queue_, "keyed", {.deduplication_key = "k"});
    (void)got(queue_);
  }

  VerifyReport verify() {
    bench_.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    return report.ok() ? *report : VerifyReport();
  }
  void change(const std::function<void(format::BatchBuilder&)>& rows) {
    bench_.store.reset();
    auto engine = bench_.machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    format::BatchBuilder batch;
    rows(batch);
    engine::CommitRequest request;
    request.batch = batch.finish();
    ASSERT_TRUE((*engine)->commit(std::move(request)).ok());
  }
  void expect_finding(const std::string& words) {
    const VerifyReport report = verify();
    ASSERT_FALSE(report.sound());
    std::string all;
    for (const std::string& finding : report.findings) all += finding + "\n";
    EXPECT_THAT(all, HasSubstr(words));
  }

  QueueBench bench_;
  Queue queue_ = bench_.queue();
};

TEST_F(QueueChecks, ASoundQueueHasNoFinding) {
  EXPECT_EQ(said(queue_.remove(got(queue_, {.count = 2}).front())), kDone);
  (void)bench_.queue("empty");
  const VerifyReport report = verify();
  EXPECT_TRUE(report.sound()) << report.findings[0];
  EXPECT_EQ(report.queues, 2U);
  EXPECT_EQ(report.messages, 2U);
  EXPECT_EQ(report.entities, 0U) << "messages are no entities";
}

TEST_F(QueueChecks, AMessageWithoutPlaceIsFound) {
  WaitingMessage message;
  message.expires = message.inserted = 1;
  change([&](format::BatchBuilder& batch) { batch.put(waiting_key(kQueue, 5, kPlanted), encode_waiting(message)); });
  expect_finding("a message has no place row");
}

TEST_F(QueueChecks, APlaceWithoutMessageIsFound) {
  change([&](format::BatchBuilder& batch) { batch.put(place_key(kQueue, kPlanted), encode_place({5, 6, 1, false})); });
  expect_finding("rows of places");
}

TEST_F(QueueChecks, RowsThatDifferAreFound) {
  WaitingMessage message;
  message.inserted = 1;
  message.expires = 9;
  change([&](format::BatchBuilder& batch) {
    batch.put(waiting_key(kQueue, 5, kPlanted), encode_waiting(message));
    batch.put(place_key(kQueue, kPlanted), encode_place({4, 9, 0, false}));
  });
  expect_finding("not of one commit");
}

TEST_F(QueueChecks, ACounterThatIsNoRecountIsFound) {
  change([&](format::BatchBuilder& batch) { batch.put(counter_key(kQueue, 15), encode_count({1, 0})); });
  expect_finding("the counters say");
}

TEST_F(QueueChecks, AnExpiryWithoutMessageIsFound) {
  change([&](format::BatchBuilder& batch) { batch.put(expiry_key(kQueue, 5, kPlanted), encode_nothing()); });
  expect_finding("rows of expiries");
}

TEST_F(QueueChecks, ARowThatIsNoRowOfAMessageIsFound) {
  change([&](format::BatchBuilder& batch) { batch.put(place_key(kQueue, kPlanted), encode_nothing()); });
  expect_finding("a property of a message's place is missing");
}

TEST_F(QueueChecks, ARepairKeepsQueuesWithTheirMessages) {
  const ReceivedMessage held = got(queue_, {.hold = std::chrono::hours(1)}).front();
  EXPECT_EQ(said(bench_.store->close()), kDone);
  const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->was_sound());
  EXPECT_EQ(report->queues, 1U);
  EXPECT_EQ(report->tables, 0U);
  const Result<VerifyReport> verified = Store::verify("/repaired", bench_.options());
  ASSERT_TRUE(verified.ok() && verified->sound());
  EXPECT_EQ(verified->messages, 3U);
  const std::unique_ptr<Store> store = *Store::open("/repaired", bench_.options());
  Queue again = *store->open_queue(kAccount, "orders");
  EXPECT_EQ(counted(again), 3U);
  EXPECT_EQ(said(again.remove(held)), kDone) << "its receipt is valid in the repaired store too";
}

TEST_F(QueueChecks, ARepairWithoutTheSecretMakesANewOne) {
  const ReceivedMessage held = got(queue_, {.hold = 1s}).front();
  change([&](format::BatchBuilder& batch) { batch.remove(queue_secret_key()); });
  const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  const std::unique_ptr<Store> store = *Store::open("/repaired", bench_.options());
  Queue again = *store->open_queue(kAccount, "orders");
  EXPECT_EQ(said(again.remove(held)), (Said{Code::kInvalidArgument, "InvalidQueryParameterValue"}));
  bench_.pass(10s);
  for (const ReceivedMessage& message : got(again, {.count = 32})) EXPECT_EQ(said(again.remove(message)), kDone);
}

}  // namespace
}  // namespace varve::test::queue_check_test
