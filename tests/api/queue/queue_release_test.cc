// Goal: an open of the store releases the messages of queues that ask for it, and of no other queue (QX-10).
// Method: messages are held, and the store is opened anew, after a close, a power cut or a kill. A repeated look shows that
// the open wrote nothing.
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/queue/queue_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/verify.h"

namespace varve::test::queue_release_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::chrono::milliseconds kLong = std::chrono::hours(24);

class QueueRelease : public testing::Test {
 protected:
  Queue reopened() {
    bench_.open();
    return *bench_.store->open_queue(kAccount, "orders");
  }
  QueueBench bench_;
  Queue queue_ = bench_.queue("orders", {.release_on_open = true});
};

TEST_F(QueueRelease, QX10_AnOpenMakesHeldMessagesVisibleAndKeepsTheirCount) {
  (void)sent(queue_, "1");
  (void)sent(queue_, "2");
  const std::vector<ReceivedMessage> held = got(queue_, {.count = 2, .hold = kLong});
  ASSERT_EQ(held.size(), 2U);
  EXPECT_THAT(peeked(queue_), IsEmpty());
  Queue again = reopened();
  EXPECT_THAT(peeked(again), ElementsAre("1", "2"));
  EXPECT_EQ((*again.peek()).front().deliveries, 1U);
  EXPECT_EQ(said(again.remove(held[1])), kDone) << "the receipt is still the last one";
  const std::vector<ReceivedMessage> messages = got(again, {.count = 2, .hold = kLong});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages.front().text, "1");
  EXPECT_EQ(messages.front().deliveries, 2U);
  EXPECT_EQ(said(again.remove(held[0])), kMessageGone) << "it was got since";
  EXPECT_THAT(peeked(again), IsEmpty()) << "a hold of this open holds";
  EXPECT_EQ(got(again).size(), 0U);
}

TEST_F(QueueRelease, QX10_AMessageThatWasUpdatedByItsHolderIsReleasedToo) {
  (void)sent(queue_, "text");
  const ReceivedMessage held = got(queue_, {.hold = 1s}).front();
  ASSERT_TRUE(queue_.update(held.id, held.receipt, kLong, "longer work").ok());
  Queue again = reopened();
  EXPECT_THAT(peeked(again), ElementsAre("longer work"));
}

TEST_F(QueueRelease, QX10_QX11_ADelayOutlivesTheOpen) {
  (void)sent(queue_, "delayed", {.delay = 1h});
  (void)sent(queue_, "held");
  (void)got(queue_, {.hold = kLong});
  Queue again = reopened();
  EXPECT_THAT(got_texts(again, {.count = 32}), ElementsAre("held"));
  bench_.pass(1h + 1s);
  EXPECT_THAT(peeked(again), ElementsAre("held", "delayed")) << "the hold of 30 s has passed";
}

TEST_F(QueueRelease, QX10_OtherQueuesKeepTheirHolds) {
  Queue other = bench_.queue("other");
  (void)sent(other, "text");
  (void)got(other, {.hold = 10s});
  bench_.open();
  Queue again = *bench_.store->open_queue(kAccount, "other");
  EXPECT_THAT(peeked(again), IsEmpty());
  bench_.pass(11s);
  EXPECT_THAT(peeked(again), ElementsAre("text"));
}

TEST_F(QueueRelease, QX10_QM15_ReleasedMessagesComeInTheOrderOfTheOpen) {
  for (const char* const text : {"first", "second", "third"}) (void)sent(queue_, text);
  (void)got(queue_, {.hold = kLong});       // first
  (void)got(queue_, {.hold = kLong - 1s});  // second
  bench_.pass(1s);
  Queue again = reopened();
  (void)sent(again, "after");
  EXPECT_THAT(peeked(again), ElementsAre("third", "second", "first", "after"));
  EXPECT_THAT(got_texts(again, {.count = 3, .hold = kLong}), ElementsAre("third", "second", "first"));
  EXPECT_THAT(got_texts(again), ElementsAre("after"));
}

TEST_F(QueueRelease, QX10_AHoldThatEndsLaterDoesNotShowAMessageTwice) {
  (void)sent(queue_, "text");
  (void)got(queue_, {.hold = 10s});
  Queue again = reopened();
  bench_.pass(11s);
  EXPECT_THAT(peeked(again), ElementsAre("text"));
  EXPECT_THAT(got_texts(again, {.count = 32}), ElementsAre("text"));
}

TEST_F(QueueRelease, QX10_AReleasedMessageThatExpiredIsGone) {
  (void)sent(queue_, "text", {.ttl = 1min});
  (void)got(queue_, {.hold = kLong});
  Queue again = reopened();
  bench_.pass(2min);
  EXPECT_THAT(got_texts(again), IsEmpty());
  EXPECT_EQ(counted(again), 0U);
}

TEST_F(QueueRelease, QX10_EachOpenReleasesAnew) {
  (void)sent(queue_, "text");
  for (std::uint32_t round = 1; round < 5; ++round) {
    Queue again = reopened();
    const std::vector<ReceivedMessage> messages = got(again, {.hold = kLong});
    ASSERT_EQ(messages.size(), 1U) << "round " << round;
    EXPECT_EQ(messages.front().deliveries, round);
  }
}

TEST_F(QueueRelease, QX10_ClearAndMetadataKeepTheOption) {
  ASSERT_EQ(said(queue_.clear()), kDone);
  ASSERT_EQ(said(queue_.set_metadata({{"a", "b"}})), kDone);
  ASSERT_EQ(said(queue_.set_access_policies({})), kDone);
  (void)sent(queue_, "text");
  (void)got(queue_, {.hold = kLong});
  Queue again = reopened();
  EXPECT_THAT(peeked(again), ElementsAre("text"));
}

TEST_F(QueueRelease, QX10_AReadOnlyOpenReleasesNothing) {
  (void)sent(queue_, "text");
  (void)got(queue_, {.hold = kLong});
  StoreOptions options = bench_.options();
  options.create_if_absent = false;
  options.read_only = true;
  bench_.open(options);
  EXPECT_THAT(peeked(*bench_.store->open_queue(kAccount, "orders")), IsEmpty());
}

/// The open must not depend on the number of messages: it commits nothing, and a get commits once.
TEST_F(QueueRelease, QX10_AnOpenRewritesNoMessage) {
  constexpr int kMessages = 200;
  for (int i = 0; i < kMessages; ++i) (void)sent(queue_, std::to_string(i));
  for (int i = 0; i < kMessages; i += 20) (void)got(queue_, {.count = 20, .hold = kLong});
  Queue again = reopened();
  EXPECT_EQ(peeked(again, 1).size(), 1U);
  EXPECT_EQ((*bench_.store->statistics()).commits, 0U);
  EXPECT_EQ(got(again).size(), 1U);
  EXPECT_EQ((*bench_.store->statistics()).commits, 1U);
}

TEST(QueueReleaseThreads, QX10_QM14_ConsumersSideBySideShareWhatTheOpenReleased) {
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(25); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    constexpr std::size_t kMessages = 12;
    {
      Queue queue = bench.queue("orders", {.release_on_open = true});
      for (std::size_t i = 0; i < kMessages; ++i) (void)sent(queue, std::to_string(i));
      ASSERT_EQ(got(queue, {.count = 32, .hold = kLong}).size(), kMessages);
    }
    bench.open();
    Queue queue = *bench.store->open_queue(kAccount, "orders");
    std::multiset<std::string> taken;
    auto consumer = [&, queue]() mutable {
      for (;;) {
        const std::vector<std::string> texts = got_texts(queue, {.count = 2, .hold = kLong});
        if (texts.empty()) return;
        taken.insert(texts.begin(), texts.end());
        bench.machine.scheduler().yield();
      }
    };
    run_together(bench, {consumer, consumer, consumer});
    EXPECT_EQ(taken.size(), kMessages);
    EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), kMessages);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::queue_release_test
