// Goal: messages and entities of one transaction are committed together or not at all (QX-02, QX-03).
// Method: transactions that succeed, and one for each reason to fail. After a failure nothing has changed.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/queue/queue_bench.h"
#include "varve/limits.h"

namespace varve::test::queue_transaction_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class QueueTransactions : public testing::Test {
 protected:
  StoreTransaction begin() { return *bench_.store->begin_transaction(); }
  void expect_nothing_changed() {
    EXPECT_THAT(peeked(queue_), ElementsAre("before"));
    EXPECT_EQ(counted(queue_), 1U);
    EXPECT_FALSE(*table_.get("p", "new"));
  }

  QueueBench bench_;
  Table table_ = bench_.table();
  Queue queue_ = bench_.queue();
  SentMessage before_ = sent(queue_, "before", {.ttl = kNever});
};

TEST_F(QueueTransactions, QX02_AMessageIsPutWithItsEntity) {
  StoreTransaction transaction = begin();
  transaction.insert(table_, with_value("p", "new", "1"))
      .put(queue_, "about new")
      .put(queue_, std::string(20'000, 'x'));
  EXPECT_EQ(transaction.size(), 3U);
  const Result<std::vector<ETag>> etags = transaction.commit();
  ASSERT_TRUE(etags.ok()) << etags.status().to_string();
  EXPECT_EQ(etags->size(), 1U);
  ASSERT_EQ(transaction.sent_messages().size(), 2U);
  EXPECT_THAT(peeked(queue_), ElementsAre("before", "about new", std::string(20'000, 'x')));
  EXPECT_EQ(counted(queue_), 3U);
  const SentMessage& message = transaction.sent_messages().front();
  EXPECT_EQ(said(queue_.remove(message.id, message.receipt)), kDone);
}

TEST_F(QueueTransactions, QX02_MessagesAloneAreATransaction) {
  Queue other = bench_.queue("other");
  StoreTransaction transaction = begin();
  transaction.put(queue_, "1").put(other, "2", {.delay = 5s});
  EXPECT_EQ(said(transaction.commit()), kDone);
  EXPECT_THAT(peeked(queue_), ElementsAre("before", "1"));
  EXPECT_EQ(counted(other), 1U);
  EXPECT_THAT(peeked(other), IsEmpty());
}

TEST_F(QueueTransactions, QX02_ARefusedEntityTakesTheMessageWithIt) {
  EXPECT_EQ(said(table_.insert(with_value("p", "there", "1"))), kDone);
  StoreTransaction transaction = begin();
  transaction.put(queue_, "text").insert(table_, with_value("p", "there", "2"));
  const Result<std::vector<ETag>> refused = transaction.commit();
  EXPECT_EQ(said(refused), (Said{Code::kExists, "EntityAlreadyExists"}));
  EXPECT_EQ(refused.status().operation_index(), 1U);
  EXPECT_THAT(transaction.sent_messages(), IsEmpty());
  expect_nothing_changed();
}

TEST_F(QueueTransactions, QX02_ARefusedMessageTakesTheEntityWithIt) {
  const Said too_large{Code::kTooLarge, "RequestBodyTooLarge"};
  StoreTransaction large = begin();
  large.insert(table_, with_value("p", "new", "1")).put(queue_, std::string(65'537, 'x'));
  const Result<std::vector<ETag>> refused = large.commit();
  EXPECT_EQ(said(refused), too_large);
  EXPECT_EQ(refused.status().operation_index(), 1U);
  StoreTransaction gone = begin();
  Queue dropped = bench_.queue("dropped");
  gone.put(dropped, "text").insert(table_, with_value("p", "new", "1"));
  EXPECT_EQ(said(bench_.store->drop_queue(kAccount, "dropped")), kDone);
  const Result<std::vector<ETag>> none = gone.commit();
  EXPECT_EQ(said(none), kQueueGone);
  EXPECT_EQ(none.status().operation_index(), 0U);
  expect_nothing_changed();
}

TEST_F(QueueTransactions, QX03_DeletingTheMessageIsPartOfTheWork) {
  const ReceivedMessage message = got(queue_).front();
  StoreTransaction transaction = begin();
  transaction.insert(table_, with_value("p", "new", "1")).remove(queue_, message);
  EXPECT_EQ(said(transaction.commit()), kDone);
  EXPECT_EQ(counted(queue_), 0U);
  EXPECT_TRUE(*table_.get("p", "new"));
}

TEST_F(QueueTransactions, QX03_WithAnOldReceiptNothingHappens) {
  const ReceivedMessage first = got(queue_, {.hold = 1s}).front();
  bench_.pass(2s);
  const ReceivedMessage second = got(queue_, {.hold = 1s}).front();
  StoreTransaction transaction = begin();
  transaction.insert(table_, with_value("p", "new", "1")).remove(queue_, first);
  const Result<std::vector<ETag>> refused = transaction.commit();
  EXPECT_EQ(said(refused), (Said{Code::kConflict, "MessageNotFound"}));
  EXPECT_EQ(refused.status().operation_index(), 1U);
  int calls = 0;
  const auto again = bench_.store->transact([&](StoreTransaction& retried) {
    ++calls;
    retried.remove(queue_, first);
    return Status();
  });
  EXPECT_EQ(said(again), (Said{Code::kConflict, "MessageNotFound"}));
  EXPECT_EQ(calls, 1) << "an old receipt stays old";
  bench_.pass(2s);
  expect_nothing_changed();
}

TEST_F(QueueTransactions, QX03_AnUpdateHidesAndChangesAMessage) {
  const ReceivedMessage message = got(queue_).front();
  StoreTransaction transaction = begin();
  transaction.insert(table_, with_value("p", "new", "1")).update(queue_, message, 0s, "after");
  EXPECT_EQ(said(transaction.commit()), kDone);
  EXPECT_THAT(peeked(queue_), ElementsAre("after"));
}

TEST_F(QueueTransactions, OneMessageIsWrittenOnce) {
  const ReceivedMessage message = got(queue_, {.hold = 1s}).front();
  StoreTransaction twice = begin();
  twice.insert(table_, with_value("p", "new", "1")).remove(queue_, message).update(queue_, message, 0s);
  const Result<std::vector<ETag>> refused = twice.commit();
  EXPECT_EQ(said(refused), (Said{Code::kInvalidArgument, "InvalidInput"}));
  EXPECT_EQ(refused.status().operation_index(), 2U);
  StoreTransaction keys = begin();
  keys.put(queue_, "1", {.deduplication_key = "k"}).put(queue_, "2", {.deduplication_key = "k"});
  EXPECT_EQ(said(keys.commit()), (Said{Code::kInvalidArgument, "InvalidInput"}));
  QueueBench elsewhere;
  Queue foreign = elsewhere.queue();
  StoreTransaction strange = begin();
  strange.put(foreign, "text");
  EXPECT_EQ(said(strange.commit()), (Said{Code::kInvalidArgument, "InvalidInput"}));
  bench_.pass(2s);
  expect_nothing_changed();
}

TEST_F(QueueTransactions, QX13_APutThatIsADuplicateLeavesTheRestOfItsTransaction) {
  const SentMessage first = sent(queue_, "first", {.deduplication_key = "k"});
  StoreTransaction transaction = begin();
  transaction.put(queue_, "second", {.deduplication_key = "k"}).insert(table_, with_value("p", "new", "1"));
  EXPECT_EQ(said(transaction.commit()), kDone);
  EXPECT_TRUE(transaction.sent_messages().front().is_duplicate);
  EXPECT_EQ(transaction.sent_messages().front().id, first.id);
  EXPECT_TRUE(*table_.get("p", "new"));
  StoreTransaction alone = begin();
  alone.put(queue_, "third", {.deduplication_key = "k"});
  EXPECT_EQ(said(alone.commit()), kDone);
  EXPECT_TRUE(alone.sent_messages().front().is_duplicate);
  EXPECT_THAT(peeked(queue_), ElementsAre("before", "first"));
}

TEST_F(QueueTransactions, QX20_AQueueThatWasClearedGetsTheMessage) {
  StoreTransaction transaction = begin();
  transaction.put(queue_, "after").insert(table_, with_value("p", "new", "1"));
  EXPECT_EQ(said(queue_.clear()), kDone);
  EXPECT_EQ(said(transaction.commit()), kDone);
  EXPECT_THAT(peeked(queue_), ElementsAre("after"));
}

TEST_F(QueueTransactions, QX04_TheBytesOfMessagesCount) {
  Queue large = bench_.queue("large", {.message_bytes_max = limits::kMessageBytesMaxLimit});
  StoreTransaction transaction = begin();
  for (int i = 0; i < 17; ++i) transaction.put(large, std::string(1'048'576, 'x'));
  const Result<std::vector<ETag>> refused = transaction.commit();
  EXPECT_EQ(said(refused), (Said{Code::kTooLarge, "RequestBodyTooLarge"}));
  EXPECT_EQ(refused.status().operation_index(), 16U);
  EXPECT_EQ(counted(large), 0U);
}

TEST_F(QueueTransactions, QX02_ASnapshotShowsEntityAndMessageOfOneMoment) {
  StoreTransaction transaction = begin();
  transaction.insert(table_, with_value("p", "new", "1")).put(queue_, "about new");
  EXPECT_EQ(said(transaction.commit()), kDone);
  EXPECT_EQ(said(bench_.store->checkpoint("/copy")), kDone);
  StoreOptions options = bench_.options();
  options.create_if_absent = false;
  const std::unique_ptr<Store> copy = *Store::open("/copy", options);
  EXPECT_TRUE(*(*copy->open_table(kAccount, "Orders")).get("p", "new"));
  EXPECT_THAT(peeked(*copy->open_queue(kAccount, "orders")), ElementsAre("before", "about new"));
}

}  // namespace
}  // namespace varve::test::queue_transaction_test
