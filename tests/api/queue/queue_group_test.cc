// Goal: an entity group transaction may carry messages, which are committed with its entities or not at all (QX-04).
// Method: transactions that succeed, one for each reason to fail, and transactions beside clears and crashes.
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/queue/queue_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/async.h"
#include "varve/limits.h"
#include "varve/verify.h"

namespace varve::test::queue_group_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

WriteOperation insert_of(std::string_view row, std::string_view partition = "p") {
  return WriteOperation::insert(with_value(partition, row, "v"));
}

class QueueGroups : public testing::Test {
 protected:
  Result<ExecutedTransaction> execute(const std::vector<WriteOperation>& operations,
                                      const std::vector<MessageWrite>& messages) {
    return table_.execute_with_messages(operations, messages);
  }
  void expect_refused(const std::vector<WriteOperation>& operations, const std::vector<MessageWrite>& messages,
                      const Said& error, std::optional<std::uint32_t> index) {
    const Result<ExecutedTransaction> refused = execute(operations, messages);
    EXPECT_EQ(said(refused), error);
    EXPECT_EQ(refused.status().operation_index(), index);
    EXPECT_THAT(peeked(queue_), ElementsAre("before"));
    EXPECT_EQ(counted(queue_), 1U);
    EXPECT_FALSE(*table_.get("p", "new"));
  }

  QueueBench bench_;
  Table table_ = bench_.table();
  Queue queue_ = bench_.queue();
  SentMessage before_ = sent(queue_, "before", {.ttl = kNever});
};

TEST_F(QueueGroups, QX04_EntitiesAndMessagesAreOneCommit) {
  const ReceivedMessage held = got(queue_, {.hold = 1h}).front();
  (void)sent(queue_, "second");
  const ReceivedMessage other = got(queue_, {.hold = 1h}).front();
  const std::uint64_t commits = (*bench_.store->statistics()).commits;
  const Result<ExecutedTransaction> done =
      execute({insert_of("new"), WriteOperation::remove("p", "absent", ETag::any())}, {});
  EXPECT_EQ(said(done), kResourceNotFound);
  const Result<ExecutedTransaction> again =
      execute({insert_of("new"), insert_of("newer")},
              {MessageWrite::put(queue_, "about new"), MessageWrite::remove(queue_, held.id, held.receipt),
               MessageWrite::update(queue_, other.id, other.receipt, 0ms, "changed"),
               MessageWrite::put(queue_, "hidden", {.delay = 1h})});
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ((*bench_.store->statistics()).commits, commits + 1);
  EXPECT_THAT(again->etags, SizeIs(2));
  EXPECT_EQ((*table_.get("p", "new"))->etag(), again->etags.front());
  ASSERT_THAT(again->sent, SizeIs(2));
  EXPECT_EQ(again->sent[1].visible.ticks - again->sent[1].inserted.ticks, 36'000'000'000U);
  EXPECT_THAT(peeked(queue_), testing::UnorderedElementsAre("about new", "changed"));
  EXPECT_EQ(counted(queue_), 3U);
  EXPECT_EQ(said(queue_.remove(again->sent[0].id, again->sent[0].receipt)), kDone) << "the put's receipt is valid";
}

TEST_F(QueueGroups, QX04_MessagesDoNotCountAsOperations) {
  std::vector<WriteOperation> operations;
  for (int i = 0; i < 100; ++i) operations.push_back(insert_of("r" + std::to_string(1000 + i)));
  std::vector<MessageWrite> messages;
  for (int i = 0; i < 150; ++i) messages.push_back(MessageWrite::put(queue_, std::to_string(i)));
  const Result<ExecutedTransaction> done = execute(operations, messages);
  ASSERT_TRUE(done.ok()) << done.status().to_string();
  EXPECT_THAT(done->sent, SizeIs(150));
  EXPECT_EQ(counted(queue_), 151U);
}

TEST_F(QueueGroups, QX04_TheEntitiesKeepTheirLimits) {
  std::vector<WriteOperation> operations;
  for (int i = 0; i < 101; ++i) operations.push_back(insert_of("r" + std::to_string(1000 + i)));
  const std::vector<MessageWrite> message = {MessageWrite::put(queue_, "text")};
  expect_refused(operations, message, kInvalidInput, 99);
  expect_refused({}, message, kInvalidInput, std::nullopt);
  expect_refused({insert_of("new"), insert_of("new", "q")}, message, kDifferentPartitions, 1);
  expect_refused({insert_of("new"), insert_of("new")}, message, kInvalidDuplicateRow, 1);
}

TEST_F(QueueGroups, QX04_TheBytesOfMessagesCountForTheSize) {
  const Queue large = bench_.queue("large", {.message_bytes_max = limits::kMessageBytesMaxLimit});
  const std::vector<MessageWrite> fits(4, MessageWrite::put(large, std::string(1'048'576, 'x')));
  std::vector<MessageWrite> too_large = fits;
  too_large.push_back(MessageWrite::put(queue_, "small"));
  too_large.push_back(MessageWrite::put(large, std::string(524'288, 'x')));
  expect_refused({insert_of("new")}, too_large, kRequestBodyTooLarge, 6);
  EXPECT_EQ(counted(large), 0U);
  EXPECT_EQ(said(execute({insert_of("new")}, fits)), kDone);
  EXPECT_EQ(counted(large), 4U);
}

TEST_F(QueueGroups, QX04_AQueueMayTakeMessagesOfOneMiBAndKeepsItsLimit) {
  for (const std::uint32_t bytes : {0U, 1'048'577U}) {
    EXPECT_EQ(said(bench_.store->create_queue(kAccount, "other", {.message_bytes_max = bytes})), kInvalidInput)
        << bytes;
  }
  (void)bench_.queue("large", {.message_bytes_max = 1'048'576});
  bench_.open();
  Queue large = *bench_.store->open_queue(kAccount, "large");
  const std::string text(1'048'576, 'x');
  const SentMessage message = sent(large, text);
  EXPECT_EQ(said(large.put(text + 'x')), kRequestBodyTooLarge);
  EXPECT_EQ(said(large.update(message.id, message.receipt, 0ms, text + 'x')), kRequestBodyTooLarge);
  EXPECT_EQ(said(large.update(message.id, message.receipt, 0ms, text)), kDone);
  table_ = *bench_.store->open_table(kAccount, "Orders");
  EXPECT_EQ(said(execute({insert_of("new")}, {MessageWrite::put(large, text + 'x')})), kRequestBodyTooLarge);
  EXPECT_EQ(said(execute({insert_of("new")}, {MessageWrite::put(large, text)})), kDone);
  EXPECT_EQ(got_texts(large, {.count = 32}), std::vector<std::string>(2, text));
}

TEST_F(QueueGroups, QX04_TheNumberOfMessagesIsLimited) {
  const std::vector<MessageWrite> many(limits::kStoreTransactionOperationsMax + 1, MessageWrite::put(queue_, ""));
  expect_refused({insert_of("new")}, many, {Code::kTooLarge, "InvalidInput"},
                 static_cast<std::uint32_t>(1 + limits::kStoreTransactionOperationsMax));
}

TEST_F(QueueGroups, QX04_QX03_ARefusedPartRefusesAll) {
  const ReceivedMessage held = got(queue_, {.hold = 1ms}).front();
  bench_.pass(10ms);
  (void)got(queue_, {.hold = 1ms});  // The receipt is no longer the last one.
  bench_.pass(10ms);
  const std::vector<WriteOperation> insert = {insert_of("new")};
  expect_refused(insert, {MessageWrite::put(queue_, "x"), MessageWrite::remove(queue_, held.id, held.receipt)},
                 {Code::kConflict, "MessageNotFound"}, 2);
  PopReceipt foreign = held.receipt;
  foreign.check ^= 1;
  expect_refused(insert, {MessageWrite::remove(queue_, held.id, foreign)},
                 {Code::kInvalidArgument, "InvalidQueryParameterValue"}, 1);
  expect_refused(insert, {MessageWrite::put(queue_, std::string(65'537, 'x'))}, kRequestBodyTooLarge, 1);
  expect_refused(insert, {MessageWrite::put(queue_, "x", {.delay = -1s})},
                 {Code::kInvalidArgument, "OutOfRangeQueryParameterValue"}, 1);
  expect_refused({insert_of("new"), WriteOperation::merge(with_value("p", "absent", "v"), ETag::any())},
                 {MessageWrite::put(queue_, "x")}, kResourceNotFound, 1);
  const Queue gone = bench_.queue("gone");
  EXPECT_EQ(said(bench_.store->drop_queue(kAccount, "gone")), kDone);
  expect_refused(insert, {MessageWrite::put(gone, "x")}, kQueueGone, 1);
  QueueBench elsewhere(2);
  const Queue foreign_queue = elsewhere.queue();
  expect_refused(insert, {MessageWrite::put(foreign_queue, "x")}, kInvalidInput, 1);
}

TEST_F(QueueGroups, QX04_AMergeIsStoredWholeWhenAnotherAttemptFollows) {
  Entity entity = with_value("p", "both", "old");
  entity.set("W", "kept");
  ASSERT_TRUE(table_.insert(entity).ok());
  const std::vector<WriteOperation> merge = {WriteOperation::merge(with_value("p", "both", "new"), ETag::any())};
  ASSERT_TRUE(execute(merge, {MessageWrite::put(queue_, "merged")}).ok());
  EXPECT_EQ(value_in(table_, "p", "both"), "new");
  EXPECT_NE((*table_.get("p", "both"))->find("W"), nullptr);
}

TEST_F(QueueGroups, QX04_ADuplicatePutStoresNothingAndItsEntitiesAreWritten) {
  const PutOptions keyed = {.deduplication_key = "key"};
  const SentMessage first = sent(queue_, "once", keyed);
  const Result<ExecutedTransaction> done = execute({insert_of("new")}, {MessageWrite::put(queue_, "twice", keyed)});
  ASSERT_TRUE(done.ok()) << done.status().to_string();
  EXPECT_TRUE(done->sent.front().is_duplicate);
  EXPECT_EQ(done->sent.front().id, first.id);
  EXPECT_EQ(counted(queue_), 2U);
  EXPECT_TRUE(*table_.get("p", "new"));
}

TEST_F(QueueGroups, QX04_TheAsynchronousFormDoesTheSame) {
  const AsyncTable table(table_);
  EntityGroupTransaction transaction;
  transaction.insert(with_value("p", "new", "v"));
  const Result<ExecutedTransaction> done =
      wait(table.execute_with_messages(std::move(transaction), {MessageWrite::put(queue_, "about new")}));
  ASSERT_TRUE(done.ok()) << done.status().to_string();
  EXPECT_THAT(done->sent, SizeIs(1));
  EXPECT_THAT(peeked(queue_), ElementsAre("before", "about new"));
  std::stop_source source;
  source.request_stop();
  EntityGroupTransaction stopped;
  stopped.insert(with_value("p", "never", "v"));
  EXPECT_EQ(wait(table.execute_with_messages(std::move(stopped), {}, {}, source.get_token())).code(), Code::kCancelled);
  EXPECT_FALSE(*table_.get("p", "never"));
}

TEST(QueueGroupThreads, QX04_QX03_OfTransactionsWithOneReceiptOneSucceeds) {
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(25); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    Table table = bench.table();
    Queue queue = bench.queue();
    (void)sent(queue, "work");
    const ReceivedMessage message = got(queue).front();
    std::atomic<int> succeeded{0};
    auto worker = [&, table](const std::string& partition) mutable {
      const WriteOperation insert = insert_of("done", partition);
      const MessageWrite remove = MessageWrite::remove(queue, message.id, message.receipt);
      const Result<ExecutedTransaction> done = table.execute_with_messages({&insert, 1}, {&remove, 1});
      if (done.ok()) ++succeeded;
      EXPECT_EQ(said(done), done.ok() ? kDone : (Said{Code::kConflict, "MessageNotFound"}));
      EXPECT_EQ((*table.get(partition, "done")).has_value(), done.ok());
    };
    run_together(bench, {[&] { worker("a"); }, [&] { worker("b"); }, [&] { worker("c"); }});
    EXPECT_EQ(succeeded, 1);
    EXPECT_EQ(counted(queue), 0U);
    if (testing::Test::HasFailure()) return;
  }
}

/// Each acknowledged transaction that a clear did not overtake has its message, and each has its entity.
TEST(QueueGroupThreads, QX04_QX20_ATransactionThatAClearOvertookGoesToTheClearedQueue) {
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(25); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    Table table = bench.table();
    Queue queue = bench.queue();
    auto writer = [&, table, queue](int number) mutable {
      for (int i = 0; i < 6; ++i) {
        const std::string name = std::to_string(number) + "/" + std::to_string(i);
        const WriteOperation insert =
            WriteOperation::insert(with_value("p" + std::to_string(number), std::to_string(i), "v"));
        const MessageWrite put = MessageWrite::put(queue, name);
        EXPECT_EQ(said(table.execute_with_messages({&insert, 1}, {&put, 1})), kDone);
      }
    };
    auto clearer = [&, queue]() mutable {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(said(queue.clear()), kDone);
        bench.machine.scheduler().yield();
      }
    };
    run_together(bench, {[&] { writer(0); }, [&] { writer(1); }, [&] { clearer(); }});
    for (const std::string& text : peeked(queue)) {
      EXPECT_TRUE(*table.get("p" + text.substr(0, 1), text.substr(2))) << text;
    }
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(*table.get("p0", std::to_string(i)));
    bench.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench.options());
    ASSERT_TRUE(report.ok() && report->sound()) << (report.ok() ? report->findings.front() : "");
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::queue_group_test
