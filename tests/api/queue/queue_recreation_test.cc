// Goal: the name of a deleted queue stays taken for the recreation delay, and nothing of the old queue shows in a new one
// (QB-03).
// Method: a clock that the test moves; every verb during the delay; and producers beside deletes under a seeded scheduler.
#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/queue/queue_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/verify.h"

namespace varve::test::queue_recreation_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Said kQueueBusy{Code::kBusy, "QueueBeingDeleted"};
constexpr std::chrono::milliseconds kDelay = 40s;

class QueueRecreation : public testing::Test {
 protected:
  QueueRecreation() {
    open(kDelay);
    queue_ = bench_.queue();
  }
  void open(std::chrono::milliseconds delay) {
    StoreOptions options = bench_.options();
    options.recreation_delay = delay;
    bench_.open(options);
  }
  Store& store() { return *bench_.store; }
  Said create() { return said(store().create_queue(kAccount, "orders")); }
  Said drop() { return said(store().drop_queue(kAccount, "orders")); }

  QueueBench bench_;
  std::optional<Queue> queue_;
};

TEST_F(QueueRecreation, QB03_EveryOperationOnTheNameIsBusyUntilTheDelayHasPassed) {
  Queue& queue = *queue_;
  const SentMessage message = sent(queue, "old");
  const Queue other = bench_.queue("other");
  ASSERT_EQ(drop(), kDone);
  const std::vector<std::function<Said()>> verbs = {
      [&] { return create(); },
      [&] { return drop(); },
      [&] { return said(store().open_queue(kAccount, "orders")); },
      [&] { return said(queue.put("new")); },
      [&] { return said(queue.get()); },
      [&] { return said(queue.get({.wait = 1s})); },
      [&] { return said(queue.peek()); },
      [&] { return said(queue.remove(message.id, message.receipt)); },
      [&] { return said(queue.update(message.id, message.receipt, 1s)); },
      [&] { return said(queue.clear()); },
      [&] { return said(queue.figures()); },
      [&] { return said(queue.metadata()); },
      [&] { return said(queue.set_metadata({})); },
      [&] { return said(queue.access_policies()); },
      [&] { return said(queue.set_access_policies({})); },
      [&] {
        StoreTransaction transaction = *store().begin_transaction();
        return said(transaction.put(queue, "new").commit());
      },
  };
  for (std::size_t i = 0; i < verbs.size(); ++i) EXPECT_EQ(verbs[i](), kQueueBusy) << "verb " << i;
  bench_.pass(kDelay - 1s);
  for (std::size_t i = 0; i < verbs.size(); ++i) EXPECT_EQ(verbs[i](), kQueueBusy) << "verb " << i;
  EXPECT_EQ((*store().list_queues(kAccount)).queues.size(), 1U) << "it is not listed";
  bench_.pass(2s);
  EXPECT_EQ(said(queue.put("new")), kQueueGone);
  EXPECT_EQ(drop(), kQueueGone);
  EXPECT_EQ(create(), kDone);
  EXPECT_THAT(peeked(queue), IsEmpty());
  EXPECT_EQ(said(queue.remove(message.id, message.receipt)), kMessageGone);
}

TEST_F(QueueRecreation, QB03_OtherNamesAndATableOfTheNameAreFree) {
  ASSERT_EQ(drop(), kDone);
  EXPECT_EQ(said(store().create_queue(kAccount, "orders2")), kDone);
  EXPECT_EQ(said(store().create_table(kAccount, "orders")), kFine);
  EXPECT_EQ(said(store().drop_table(kAccount, "orders")), kFine);
  EXPECT_EQ(said(store().create_account("another")), kFine);
  EXPECT_EQ(said(store().create_queue("another", "orders")), kDone);
  bench_.pass(2 * kDelay);
  EXPECT_EQ(create(), kDone) << "the drop of a table of the name does not count";
}

TEST_F(QueueRecreation, QB03_WithoutADelayTheNameIsFreeAtOnce) {
  open(0ms);
  Queue queue = *store().open_queue(kAccount, "orders");
  ASSERT_EQ(drop(), kDone);
  EXPECT_EQ(said(queue.put("new")), kQueueGone);
  EXPECT_EQ(create(), kDone);
}

TEST_F(QueueRecreation, QB03_TheDelayOutlivesTheStoreAndEachDeleteBeginsItAnew) {
  ASSERT_EQ(drop(), kDone);
  ASSERT_EQ(said(store().compact()), kDone);
  open(kDelay);
  EXPECT_EQ(create(), kQueueBusy);
  bench_.pass(2 * kDelay);
  EXPECT_EQ(create(), kDone);
  ASSERT_EQ(drop(), kDone);
  EXPECT_EQ(create(), kQueueBusy);
}

TEST_F(QueueRecreation, AStoreWithNotesVerifiesAndIsRepaired) {
  ASSERT_EQ(drop(), kDone);
  bench_.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->sound()) << report->findings.front();
  ASSERT_TRUE(Store::repair(kStorePath, "/repaired", bench_.options()).ok());
  StoreOptions options = bench_.options();
  options.recreation_delay = kDelay;
  const std::unique_ptr<Store> repaired = *Store::open("/repaired", options);
  EXPECT_EQ(said(repaired->create_queue(kAccount, "orders")), kQueueBusy);
}

/// A put that was acknowledged before a delete began must not show in a queue that was made afterwards. One that was
/// under way may be of either queue.
TEST(QueueRecreationThreads, QB03_NoLateWriteToTheOldQueueShowsInTheNewOne) {
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(25); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    Queue queue = bench.queue();
    std::atomic<bool> done{false};
    std::atomic<int> acknowledged[2] = {0, 0};
    auto producer = [&, queue](int number) mutable {
      for (int i = 1; !done; ++i) {
        const Result<SentMessage> put = queue.put(std::to_string(number) + "/" + std::to_string(i));
        if (put.ok()) acknowledged[number] = i;
        bench.machine.scheduler().yield();
      }
    };
    auto consumer = [&, queue]() mutable {
      while (!done) {
        const Result<std::vector<ReceivedMessage>> messages = queue.get();
        if (messages.ok() && !messages->empty())
          (void)queue.update(messages->front().id, messages->front().receipt, 0ms);
        bench.machine.scheduler().yield();
      }
    };
    auto deleter = [&] {
      for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 20; ++i) bench.machine.scheduler().yield();
        const int before[2] = {acknowledged[0], acknowledged[1]};
        EXPECT_EQ(said(bench.store->drop_queue(kAccount, "orders")), kDone);
        Queue made = bench.queue();
        for (const std::string& text : peeked(made)) {
          const int number = text[0] - '0';
          EXPECT_GT(std::stoi(text.substr(2)), before[number]) << text << " is of the old queue";
        }
      }
      done = true;
    };
    run_together(bench, {[&] { producer(0); }, [&] { producer(1); }, [&] { consumer(); }, deleter});
    bench.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench.options());
    ASSERT_TRUE(report.ok() && report->sound()) << (report.ok() ? report->findings.front() : "");
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::queue_recreation_test
