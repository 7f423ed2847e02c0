// Goal: consumers beside each other never hold one message together (QM-14, QX-32), counters stay exact, and those who
// wait are woken.
// Method: a seeded scheduler runs the threads one at a time, in many orders. Waiting is simulated too: no test sleeps.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/queue/queue_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/verify.h"

namespace varve::test::queue_threads_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Body = std::function<void()>;

constexpr std::uint64_t kSeeds = effort(25);

void for_each_queue_seed(const std::function<void(QueueBench&)>& test) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    test(bench);
    if (::testing::Test::HasFailure()) return;
  }
}

/// The times for which each message was held, by the engine's clock.
class Holds {
 public:
  explicit Holds(std::chrono::milliseconds hold) : ticks_(static_cast<std::uint64_t>(hold.count()) * 10'000) {}

  void add(const ReceivedMessage& message) { ends_[message.id].push_back(message.visible.ticks); }
  /// A delete does not shorten a hold here: no get returns a deleted message.
  void expect_no_overlap() {
    for (auto& [id, ends] : ends_) {
      std::sort(ends.begin(), ends.end());
      for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_LE(ends[i - 1], ends[i] - ticks_) << "two holders";
    }
  }

 private:
  const std::uint64_t ticks_;
  std::map<Guid, std::vector<std::uint64_t>> ends_;
};

TEST(QueueThreads, QM14_QX22_QX32_NoMessageHasTwoHoldersAndNoneIsLost) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    constexpr int kMessages = 12;
    constexpr auto kHold = 50ms;
    Holds holds(kHold);
    std::set<std::string> removed;
    std::atomic<int> left{kMessages};
    auto producer = [&, queue](int first) mutable {
      for (int i = first; i < kMessages; i += 2) (void)sent(queue, std::to_string(i));
    };
    auto consumer = [&, queue](int lazy) mutable {
      while (left > 0) {
        for (const ReceivedMessage& message : got(queue, {.count = 3, .hold = kHold})) {
          holds.add(message);
          if (static_cast<int>(message.deliveries) <= lazy) continue;  // It dies with the message in its hands.
          const Status done = queue.remove(message);
          if (done.ok()) {
            EXPECT_TRUE(removed.insert(message.text).second);
            --left;
          } else {
            EXPECT_EQ(said(done), kMessageGone);
          }
        }
        bench.pass(20ms);
        bench.machine.scheduler().yield();
      }
    };
    run_together(bench, {Body([&] { producer(0); }), Body([&] { producer(1); }), Body([&] { consumer(0); }),
                         Body([&] { consumer(1); }), Body([&] { consumer(2); })});
    holds.expect_no_overlap();
    EXPECT_EQ(removed.size(), std::size_t{kMessages});
    EXPECT_EQ(counted(queue), 0U);
    EXPECT_EQ((*queue.figures()).text_bytes, 0U);
  });
}

TEST(QueueThreads, QM16_AGetBesideAnotherFindsWhatTheOtherLeaves) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    for (int i = 0; i < 4; ++i) (void)sent(queue, std::to_string(i));
    std::vector<std::string> all;
    const auto consumer = [&, queue]() mutable {
      const std::vector<std::string> texts = got_texts(queue, {.count = 2});
      EXPECT_GE(texts.size(), 1U);
      all.insert(all.end(), texts.begin(), texts.end());
    };
    run_together(bench, {Body(consumer), Body(consumer)});
    const std::vector<std::string> rest = got_texts(queue, {.count = 2});
    all.insert(all.end(), rest.begin(), rest.end());
    EXPECT_THAT(all, testing::UnorderedElementsAre("0", "1", "2", "3"));
  });
}

TEST(QueueThreads, QM38_QX20_PutsBesideClearsAreInTheQueueOrCleared) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    run_together(bench, {Body([queue]() mutable {
                           for (int i = 0; i < 6; ++i) {
                             (void)sent(queue, std::to_string(i));
                             (void)got(queue);
                           }
                         }),
                         Body([queue]() mutable {
                           for (int i = 0; i < 3; ++i) EXPECT_EQ(said(queue.clear()), kDone);
                         })});
    bench.pass(60s);
    EXPECT_EQ(counted(queue), peeked(queue).size());
    EXPECT_EQ(said(queue.clear()), kDone);
    (void)sent(queue, "last");
    EXPECT_THAT(peeked(queue), ElementsAre("last"));
  });
}

TEST(QueueThreads, QX13_OfPutsBesideEachOtherWithOneKeyOneIsStored) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    std::vector<SentMessage> messages;
    const Body put = [&messages, queue]() mutable {
      messages.push_back(sent(queue, "text", {.deduplication_key = "k"}));
    };
    run_together(bench, {put, put, put});
    EXPECT_EQ(counted(queue), 1U);
    std::set<Guid> ids;
    int stored = 0;
    for (const SentMessage& message : messages) {
      ids.insert(message.id);
      if (!message.is_duplicate) ++stored;
    }
    EXPECT_EQ(ids.size(), 1U);
    EXPECT_EQ(stored, 1);
  });
}

TEST(QueueThreads, QX17_QX18_APutWakesAWaiter) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    std::vector<std::string> all;
    const Body consumer = [&all, queue]() mutable {
      const std::vector<std::string> texts = got_texts(queue, {.wait = std::chrono::hours(1)});
      EXPECT_EQ(texts.size(), 1U);
      all.insert(all.end(), texts.begin(), texts.end());
    };
    run_together(bench, {consumer, consumer, consumer, Body([queue]() mutable {
                           for (int i = 0; i < 3; ++i) (void)sent(queue, std::to_string(i));
                         })});
    EXPECT_THAT(all, testing::UnorderedElementsAre("0", "1", "2"));
    EXPECT_LT(bench.machine.clock.monotonic(), std::chrono::hours(1)) << "nobody waited to the end";
  });
}

TEST(QueueThreads, QX17_ATransactionAndAnUpdateWakeAWaiter) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    (void)sent(queue, "held");
    const ReceivedMessage held = got(queue, {.hold = std::chrono::hours(24)}).front();
    std::vector<std::string> all;
    const Body consumer = [&all, queue]() mutable {
      const std::vector<std::string> texts = got_texts(queue, {.wait = std::chrono::hours(1)});
      all.insert(all.end(), texts.begin(), texts.end());
    };
    run_together(bench, {consumer, consumer, Body([&bench, &held, queue]() mutable {
                           StoreTransaction transaction = *bench.store->begin_transaction();
                           transaction.put(queue, "put");
                           EXPECT_EQ(said(transaction.commit()), kDone);
                           EXPECT_EQ(said(queue.update(held.id, held.receipt, 0s)), kDone);
                         })});
    EXPECT_THAT(all, testing::UnorderedElementsAre("put", "held"));
    EXPECT_LT(bench.machine.clock.monotonic(), std::chrono::hours(1));
  });
}

TEST(QueueThreads, QX17_AWaiterSleepsUntilTheNextMessageIsVisible) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    (void)sent(queue, "late", {.delay = 90s});
    std::vector<std::string> all;
    const Body consumer = [&all, queue]() mutable {
      const std::vector<std::string> texts = got_texts(queue, {.wait = std::chrono::hours(1)});
      EXPECT_EQ(texts.size(), 1U);
      all.insert(all.end(), texts.begin(), texts.end());
    };
    run_together(bench, {consumer, consumer, Body([queue]() mutable { (void)sent(queue, "later", {.delay = 95s}); })});
    EXPECT_THAT(all, testing::UnorderedElementsAre("late", "later"));
    EXPECT_LT(bench.machine.clock.monotonic(), 300s);
  });
}

TEST(QueueThreads, QX17_AWaiterHasTheMessageThatAnotherGetHeldWhenTheHoldEnds) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    (void)sent(queue, "held");
    const Body holder = [queue]() mutable { (void)got(queue, {.hold = 5s}); };
    const Body consumer = [queue]() mutable {
      EXPECT_THAT(got_texts(queue, {.hold = 5s, .wait = std::chrono::hours(1)}), ElementsAre("held"));
    };
    run_together(bench, {holder, consumer, holder, consumer});
    EXPECT_LT(bench.machine.clock.monotonic(), 60s);
  });
}

TEST(QueueThreads, QX17_AWaitEndsAtItsTimeAndAtAStop) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    std::stop_source stop;
    run_together(
        bench,
        {Body([queue]() mutable { EXPECT_THAT(got(queue, {.wait = 10s}), IsEmpty()); }), Body([&stop, queue]() mutable {
           EXPECT_THAT(got(queue, {.wait = std::chrono::hours(10), .stop = stop.get_token()}), IsEmpty());
         }),
         Body([&stop] { stop.request_stop(); })});
    EXPECT_LT(bench.machine.clock.monotonic(), std::chrono::hours(1));
  });
}

TEST(QueueThreads, QX18_AWaiterFollowsAClearAndLearnsOfADelete) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    Queue other = bench.queue("other");
    run_together(bench,
                 {Body([queue]() mutable {
                    EXPECT_THAT(got_texts(queue, {.wait = std::chrono::hours(1)}), ElementsAre("new"));
                  }),
                  Body([other]() mutable { EXPECT_EQ(said(other.get({.wait = std::chrono::hours(1)})), kQueueGone); }),
                  Body([&bench, queue]() mutable {
                    EXPECT_EQ(said(queue.clear()), kDone);
                    (void)sent(queue, "new");
                    EXPECT_EQ(said(bench.store->drop_queue(kAccount, "other")), kDone);
                  })});
    EXPECT_LT(bench.machine.clock.monotonic(), std::chrono::hours(1));
  });
}

TEST(QueueThreads, QX26_ExpiredMessagesAndForgottenKeysLeaveTheDisk) {
  for_each_queue_seed([](QueueBench& bench) {
    Queue queue = bench.queue();
    for (int i = 0; i < 3; ++i) {
      const std::string key = "key" + std::to_string(i);
      (void)sent(queue, std::string(20'000, 'x'), {.ttl = 5s, .deduplication_key = key, .deduplication_window = 10s});
    }
    (void)sent(queue, "stays", {.ttl = kNever});
    // Waiting lets the simulated time pass, and the threads in the background work.
    EXPECT_THAT(got_texts(queue, {.hold = 1ms}), ElementsAre(std::string(20'000, 'x')));
    for (int i = 0; i < 6; ++i) (void)queue.get({.hold = 1ms, .wait = 30s});
    bench.pass(10s);
    for (int i = 0; i < 4; ++i) (void)bench.queue("other" + std::to_string(i)).get({.wait = 61s});
    const VerifyReport report = [&bench] {
      bench.store.reset();
      return *Store::verify(kStorePath, bench.options());
    }();
    EXPECT_TRUE(report.sound());
    EXPECT_EQ(report.messages, 1U) << "only what expired is removed";
  });
}

}  // namespace
}  // namespace varve::test::queue_threads_test
