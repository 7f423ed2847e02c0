// Goal: the operations of a queue as tasks do what the blocking ones do, and a get that waits occupies no thread (QX-17).
// Method: one example for each operation; waits that each way to end ends; thousands of waiters, whose threads are
// counted; and consumers, producers and stops under a seeded scheduler.
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/queue/queue_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/async.h"
#include "varve/verify.h"

namespace varve::test::async_queue_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using Messages = Result<std::vector<ReceivedMessage>>;
using BegunGet = Begun<Messages>;

constexpr Said kQueueCancelled{Code::kCancelled, ""};
constexpr Said kQueueClosed{Code::kClosed, ""};

class AsyncQueues : public testing::Test {
 protected:
  std::unique_ptr<BegunGet> begin_get(const GetOptions& options) {
    return std::make_unique<BegunGet>(bench_.machine.scheduler(), async_.get(options));
  }
  /// Lets all begun operations run as far as they can. Each look of a get is two turns of the workers.
  void settle() {
    for (int i = 0; i < 6; ++i) (void)wait(AsyncStore(*bench_.store).run([](Store&) { return Status(); }));
  }

  QueueBench bench_;
  Queue queue_ = bench_.queue();
  AsyncQueue async_ = AsyncQueue(queue_);
};

TEST_F(AsyncQueues, QX17_EachVerbDoesWhatTheBlockingOneDoes) {
  const Result<SentMessage> put = wait(async_.put("text", {.ttl = kNever}));
  ASSERT_TRUE(put.ok()) << put.status().to_string();
  EXPECT_THAT(texts_of(*wait(async_.peek())), ElementsAre("text"));
  const Messages messages = wait(async_.get({.hold = 10s}));
  ASSERT_TRUE(messages.ok() && messages->size() == 1U);
  EXPECT_EQ(messages->front().id, put->id);
  const ReceivedMessage& message = messages->front();
  const Result<UpdatedMessage> updated = wait(async_.update(message.id, message.receipt, 0ms, "changed"));
  ASSERT_TRUE(updated.ok()) << updated.status().to_string();
  EXPECT_THAT(peeked(queue_), ElementsAre("changed"));
  EXPECT_EQ((*wait(async_.figures())).messages, 1U);
  EXPECT_EQ(said(wait(async_.remove(message))), kMessageGone) << "the update replaced the receipt";
  EXPECT_EQ(said(wait(async_.remove(message.id, updated->receipt))), kDone);
  EXPECT_EQ(counted(queue_), 0U);
  EXPECT_EQ(said(wait(async_.set_metadata({{"a", "b"}}))), kDone);
  EXPECT_THAT(*wait(async_.metadata()), ElementsAre(MetadataPair{"a", "b"}));
  EXPECT_EQ(said(wait(async_.set_access_policies({{"p"}}))), kDone);
  EXPECT_EQ((*wait(async_.access_policies())).size(), 1U);
  (void)sent(queue_, "cleared");
  EXPECT_EQ(said(wait(async_.clear())), kDone);
  EXPECT_THAT(peeked(queue_), IsEmpty());
}

TEST_F(AsyncQueues, QX17_TheStoreMakesListsAndDeletesQueues) {
  const AsyncStore store(*bench_.store);
  const std::string account(kAccount);
  ASSERT_TRUE(wait(store.create_queue(account, "made", {.metadata = {{"a", "b"}}})).ok());
  EXPECT_EQ((*wait(store.open_queue(account, "made"))).name(), "made");
  EXPECT_EQ((*wait(store.list_queues(account))).queues.size(), 2U);
  EXPECT_EQ(said(wait(store.drop_queue(account, "made"))), kDone);
  EXPECT_EQ(said(wait(store.open_queue(account, "made"))), kQueueGone);
}

TEST_F(AsyncQueues, QX17_ArgumentsAreCopied) {
  std::string key = "key of the caller";
  Task<Result<SentMessage>> put = async_.put("text", {.deduplication_key = key});
  key.assign(key.size(), 'x');
  ASSERT_TRUE(wait(std::move(put)).ok());
  EXPECT_TRUE(sent(queue_, "again", {.deduplication_key = "key of the caller"}).is_duplicate);
}

TEST_F(AsyncQueues, QX17_ErrorsAreThoseOfTheVerb) {
  EXPECT_EQ(said(wait(async_.get({.count = 33}))), (Said{Code::kInvalidArgument, "OutOfRangeQueryParameterValue"}));
  EXPECT_EQ(said(wait(async_.get({.deliveries_max = 1, .dead_letter = &queue_}))), kInvalidInput);
  ASSERT_EQ(said(bench_.store->drop_queue(kAccount, "orders")), kDone);
  EXPECT_EQ(said(wait(async_.put("text"))), kQueueGone);
  EXPECT_EQ(said(wait(async_.get({.wait = 1h}))), kQueueGone);
}

TEST_F(AsyncQueues, QX17_AStopBeforeTheBeginningChangesNothing) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(said(wait(async_.put("text", {}, source.get_token()))), kQueueCancelled);
  EXPECT_EQ(said(wait(async_.clear(source.get_token()))), kQueueCancelled);
  EXPECT_EQ(counted(queue_), 0U);
}

TEST_F(AsyncQueues, QX17_APutEndsAWait) {
  const std::unique_ptr<BegunGet> get = begin_get({.wait = 1h});
  settle();
  EXPECT_FALSE(get->has_ended());
  (void)sent(queue_, "text");
  EXPECT_THAT(texts_of(*get->take()), ElementsAre("text"));
}

TEST_F(AsyncQueues, QX18_AWorkerTakesTheMessageOfAWakeUpWhileTheAsynchronousThreadIsOccupied) {
  bool was_taken = false;
  for (int attempt = 0; attempt < 10 && !was_taken; ++attempt) {
    const std::unique_ptr<BegunGet> get = begin_get({.wait = 1h});
    settle();  // The get waits now, unless its threads were very slow.
    io::Event is_held(bench_.machine.scheduler());
    io::Event goes_on(bench_.machine.scheduler());
    start(AsyncStore(*bench_.store).run([](Store&) { return Status(); }), [&](const Status&) {
      is_held.set();
      goes_on.wait();
    });
    is_held.wait();
    (void)sent(queue_, "text");
    const auto end = std::chrono::steady_clock::now() + 1s;
    while (!was_taken && std::chrono::steady_clock::now() < end) was_taken = peeked(queue_).empty();
    EXPECT_FALSE(get->has_ended()) << "it ends on the asynchronous thread";
    goes_on.set();
    EXPECT_THAT(texts_of(*get->take()), ElementsAre("text"));
  }
  EXPECT_TRUE(was_taken);
}

TEST_F(AsyncQueues, QX17_AStopEndsAWaitWithoutAMessage) {
  std::stop_source source;
  const std::unique_ptr<BegunGet> get = begin_get({.wait = 1h, .stop = source.get_token()});
  settle();
  EXPECT_FALSE(get->has_ended());
  source.request_stop();
  EXPECT_THAT(*get->take(), IsEmpty());
  const std::unique_ptr<BegunGet> stopped = begin_get({.wait = 1h, .stop = source.get_token()});
  EXPECT_THAT(*stopped->take(), IsEmpty());
  (void)sent(queue_, "text");
  EXPECT_THAT(texts_of(*begin_get({.wait = 1h, .stop = source.get_token()})->take()), ElementsAre("text"))
      << "a message that is visible is returned all the same, as by the blocking get";
}

TEST_F(AsyncQueues, QX17_AClearADeleteAndADeadLetterReachTheWaiter) {
  Queue grave = bench_.queue("grave");
  const std::unique_ptr<BegunGet> dead =
      std::make_unique<BegunGet>(bench_.machine.scheduler(), AsyncQueue(grave).get({.wait = 1h}));
  const std::unique_ptr<BegunGet> get = begin_get({.wait = 1h});
  settle();
  ASSERT_EQ(said(queue_.clear()), kDone);
  settle();
  EXPECT_FALSE(get->has_ended());
  (void)sent(queue_, "after");
  EXPECT_THAT(texts_of(*get->take()), ElementsAre("after"));
  bench_.pass(31s);
  EXPECT_THAT(*wait(async_.get({.deliveries_max = 1, .dead_letter = &grave})), IsEmpty());
  EXPECT_THAT(texts_of(*dead->take()), ElementsAre("after"));
  const std::unique_ptr<BegunGet> last = begin_get({.wait = 1h});
  settle();
  ASSERT_EQ(said(bench_.store->drop_queue(kAccount, "orders")), kDone);
  EXPECT_EQ(said(last->take()), kQueueGone);
}

TEST_F(AsyncQueues, QX17_TheCloseOfTheStoreEndsAllWaits) {
  std::vector<std::unique_ptr<BegunGet>> gets;
  for (int i = 0; i < 5; ++i) gets.push_back(begin_get({.wait = std::chrono::hours(24 * 7)}));
  settle();
  EXPECT_EQ(said(bench_.store->close()), kDone);
  for (const std::unique_ptr<BegunGet>& get : gets) EXPECT_EQ(said(get->take()), kQueueClosed);
  EXPECT_EQ(said(wait(async_.get({.wait = 1h}))), kQueueClosed);
}

TEST_F(AsyncQueues, QX17_ACloseEndsWaitsThatAreJustBeginning) {
  std::vector<std::unique_ptr<BegunGet>> gets;
  for (int i = 0; i < 40; ++i) gets.push_back(begin_get({.wait = std::chrono::hours(24 * 7)}));
  EXPECT_EQ(said(bench_.store->close()), kDone);
  for (const std::unique_ptr<BegunGet>& get : gets) EXPECT_EQ(said(get->take()), kQueueClosed);
}

std::size_t threads_of_this_process() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t count = 0;
    if (word == "Threads:" && status >> count) return count;
  }
  return 0;
}

TEST_F(AsyncQueues, QX17_QX18_TenThousandWaitersOnAThousandQueuesOccupyNoThreadEach) {
  constexpr std::size_t kQueues = 1'000;
  constexpr std::size_t kWaitersEach = 10;
  std::vector<Queue> queues;
  for (std::size_t i = 0; i < kQueues; ++i) queues.push_back(bench_.queue("queue" + std::to_string(i)));
  std::atomic<std::size_t> served{0};
  std::atomic<std::size_t> closed{0};
  for (std::size_t i = 0; i < kQueues * kWaitersEach; ++i) {
    start(AsyncQueue(queues[i % kQueues]).get({.wait = std::chrono::hours(24 * 7)}), [&](const Messages& messages) {
      if (messages.ok()) served += messages->size();
      if (messages.code() == Code::kClosed) ++closed;
    });
  }
  settle();
  EXPECT_LT(threads_of_this_process(), 64U + 32U) << "the workers, and the threads of the store";
  for (Queue& queue : queues) (void)sent(queue, "text");
  // Each put woke the waiter that waited longest. When a second message finds a second waiter, the first one was served.
  for (std::size_t left = 10'000; served < kQueues && left > 0; --left) settle();
  EXPECT_EQ(served, kQueues) << "a put wakes one waiter";
  EXPECT_EQ(said(bench_.store->close()), kDone);
  // The callback of the last operation may still be about to run.
  while (served + closed < kQueues * kWaitersEach) std::this_thread::yield();
  EXPECT_EQ(closed, kQueues * (kWaitersEach - 1));
}

// -- Under a seeded scheduler -------------------------------------------------------------------------------------------

constexpr std::uint64_t kAsyncQueueSeeds = effort<std::uint64_t>(25);

void for_each_async_seed(const std::function<void(QueueBench&)>& test) {
  for (std::uint64_t seed = 1; seed <= kAsyncQueueSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    test(bench);
    if (testing::Test::HasFailure()) return;
  }
}

Task<Status> consume(AsyncQueue queue, std::multiset<std::string>* taken) {
  for (;;) {
    const Messages messages = co_await queue.get({.count = 2, .hold = 1h, .wait = std::chrono::hours(24 * 7)});
    if (!messages.ok()) co_return messages.status();
    for (const ReceivedMessage& message : *messages) {
      if (message.text == "end") co_return Status();
      taken->insert(message.text);
      if (Status removed = co_await queue.remove(message); !removed.ok()) co_return removed;
    }
  }
}

TEST(AsyncQueueThreads, QX17_QX32_ConsumersThatWaitGetEachMessageOnce) {
  for_each_async_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    constexpr int kMessages = 12;
    constexpr std::size_t kConsumers = 3;
    std::array<std::multiset<std::string>, kConsumers> taken;
    std::vector<std::unique_ptr<Begun<Status>>> consumers;
    for (std::multiset<std::string>& own : taken) {
      consumers.push_back(std::make_unique<Begun<Status>>(bench.machine.scheduler(), consume(AsyncQueue(queue), &own)));
    }
    auto producer = [&, queue](int first) mutable {
      for (int i = first; i < kMessages; i += 2) {
        const bool is_late = i % 5 == 0;
        (void)sent(queue, std::to_string(i), {.delay = is_late ? 20ms : 0ms});
        if (is_late) bench.pass(30ms);
        bench.machine.scheduler().yield();
      }
    };
    run_together(bench, {[&] { producer(0); }, [&] { producer(1); }});
    bench.pass(1s);
    while (counted(queue) > 0) bench.machine.scheduler().yield();
    for (std::size_t i = 0; i < kConsumers; ++i) (void)sent(queue, "end");
    for (const std::unique_ptr<Begun<Status>>& consumer : consumers) EXPECT_EQ(said(consumer->take()), kDone);
    std::multiset<std::string> all;
    for (const std::multiset<std::string>& own : taken) all.insert(own.begin(), own.end());
    EXPECT_EQ(all.size(), std::size_t{kMessages});
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), std::size_t{kMessages});
  });
}

TEST(AsyncQueueThreads, QX17_AStopAWakeUpAndADeadlineAtOnceEndAWaitOnce) {
  for_each_async_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    const AsyncQueue async(queue);
    std::array<std::stop_source, 3> sources;
    std::vector<std::unique_ptr<BegunGet>> gets;
    for (const std::stop_source& source : sources) {
      gets.push_back(std::make_unique<BegunGet>(bench.machine.scheduler(),
                                                async.get({.hold = 1h, .wait = 50ms, .stop = source.get_token()})));
    }
    run_together(bench, {[&] {
                           for (std::stop_source& source : sources) source.request_stop();
                         },
                         [&, queue]() mutable {
                           (void)sent(queue, "1");
                           (void)sent(queue, "2");
                         },
                         [&] { bench.pass(60ms); }});
    std::size_t taken = 0;
    for (const std::unique_ptr<BegunGet>& get : gets) {
      const Messages messages = get->take();
      ASSERT_TRUE(messages.ok()) << messages.status().to_string();
      taken += messages->size();
    }
    EXPECT_EQ(taken + peeked(queue).size(), 2U);
  });
}

TEST(AsyncQueueThreads, QX17_ThreadsAndCoroutinesWaitInOneRow) {
  for_each_async_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    constexpr std::size_t kEach = 3;
    std::vector<std::unique_ptr<BegunGet>> gets;
    for (std::size_t i = 0; i < kEach; ++i) {
      gets.push_back(std::make_unique<BegunGet>(bench.machine.scheduler(),
                                                AsyncQueue(queue).get({.hold = 1h, .wait = std::chrono::hours(24)})));
    }
    std::atomic<std::size_t> taken{0};
    auto waiter = [&, queue]() mutable { taken += got(queue, {.hold = 1h, .wait = std::chrono::hours(24)}).size(); };
    run_together(bench, {waiter, waiter, waiter, [&, queue]() mutable {
                           for (std::size_t i = 0; i < 2 * kEach; ++i) (void)sent(queue, std::to_string(i));
                         }});
    for (const std::unique_ptr<BegunGet>& get : gets) taken += (*get->take()).size();
    EXPECT_EQ(taken, 2 * kEach);
    EXPECT_THAT(peeked(queue), IsEmpty());
  });
}

TEST(AsyncQueueThreads, QX17_ACloseBesidePutsEndsEveryWait) {
  for_each_async_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    std::vector<std::unique_ptr<BegunGet>> gets;
    for (int i = 0; i < 4; ++i) {
      gets.push_back(std::make_unique<BegunGet>(bench.machine.scheduler(),
                                                AsyncQueue(queue).get({.wait = std::chrono::hours(24)})));
    }
    (void)sent(queue, "1");
    EXPECT_EQ(said(bench.store->close()), kDone);
    std::size_t taken = 0;
    for (const std::unique_ptr<BegunGet>& get : gets) {
      const Messages messages = get->take();
      if (messages.ok()) taken += messages->size();
      EXPECT_TRUE(messages.ok() || messages.code() == Code::kClosed) << messages.status().to_string();
    }
    EXPECT_LE(taken, 1U);
  });
}

}  // namespace
}  // namespace varve::test::async_queue_test
