// Goal: a walk over the visible messages costs as much as they do: not more for hidden messages, however many there are,
// and not more for messages that were taken.
// Method: the blocks of table files that a walk touches are counted, beside few and beside many other messages.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/queue/live_queue.h"
#include "api/queue/message_walk.h"
#include "tests/api/queue/queue_bench.h"
#include "varve/limits.h"

namespace varve::test::queue_walk_test {
namespace {

using namespace std::chrono_literals;

/// The id of the first queue of the first account.
constexpr format::TableId kWalkedQueue = format::make_table_id(1, 1);

/// A larger file may have more blocks of indexes and filters on the way to a key. All data would be over a hundred.
constexpr std::uint64_t kOfLargerFiles = 4;

enum class Compacts : bool { kNo, kYes };

/// A queue with a message "visible" in memory, and those of `prepare` in table files if it was compacted. The store was
/// opened since.
class WalkedQueue {
 public:
  template <typename Prepare>
  explicit WalkedQueue(const Prepare& prepare, Compacts compacts = Compacts::kYes) {
    Queue queue = bench_.queue();
    prepare(queue, *bench_.store);
    if (compacts == Compacts::kYes) {
      EXPECT_EQ(said(bench_.store->compact()), kDone);
    }
    (void)sent(queue, "visible");
    bench_.store.reset();
    auto engine = bench_.machine.open();
    EXPECT_TRUE(engine.ok()) << engine.status().to_string();
    if (engine.ok()) engine_ = *std::move(engine);
  }

  /// Returns the blocks that a walk touches. `takes` says whether it may claim the messages that it meets.
  std::uint64_t blocks_of_a_walk(std::size_t visible, bool takes = true) {
    if (!engine_) return 0;
    engine::ReadCost cost;
    const auto claim = [takes](Sequence) { return takes; };
    LiveQueue live(bench_.env, kWalkedQueue, QueueTraits(), MessageIdentity(0), OpenMoment());
    const Result<SeenMessages> seen = walk_visible(engine_->view(), live, engine_->time(), limits::kMessagesMax, claim,
                                                   {WalkEnds::kAtLiveRow, &cost, nullptr});
    EXPECT_TRUE(seen.ok()) << seen.status().to_string();
    if (!seen.ok()) return 0;
    EXPECT_EQ(seen->messages.size(), takes ? visible : 0U);
    return cost.blocks_read + cost.blocks_from_cache;
  }

 private:
  QueueBench bench_;
  std::unique_ptr<engine::Engine> engine_;
};

std::uint64_t blocks_beside_hidden(int hidden) {
  WalkedQueue walked([hidden](Queue& queue, Store& /*store*/) {
    for (int i = 0; i < hidden; ++i) (void)sent(queue, "hidden", {.delay = 24h});
  });
  return walked.blocks_of_a_walk(1);
}

std::uint64_t blocks_after_taken(int taken, Compacts compacts = Compacts::kYes) {
  const auto prepare = [taken](Queue& queue, Store& store) {
    (void)sent(queue, "hidden", {.delay = 24h});  // so that the file is not empty
    EXPECT_EQ(said(store.compact()), kDone);      // and so that later deletes are kept
    for (int i = 0; i < taken; ++i) {
      (void)sent(queue, "taken");
      EXPECT_EQ(said(queue.remove(got(queue).front())), kDone);
    }
  };
  WalkedQueue walked(prepare, compacts);
  return walked.blocks_of_a_walk(1);
}

TEST(QueueWalks, CostNoMoreBesideManyHiddenMessages) {
  const std::uint64_t few = blocks_beside_hidden(20);
  EXPECT_GT(few, 0U);
  EXPECT_LE(blocks_beside_hidden(4'000), few + kOfLargerFiles);
}

TEST(QueueWalks, QX24_CostNoMoreAfterManyTakenMessages) {
  const std::uint64_t few = blocks_after_taken(20);
  EXPECT_GT(few, 0U);
  EXPECT_LE(blocks_after_taken(4'000), few + kOfLargerFiles);
}

// Each taken message leaves two deletes: one of its put and one of its get. The close writes them to a file without the rows
// that they hide. So its blocks have deletes alone, and a walk passes them by their marks. They would be about 30 blocks.
TEST(QueueWalks, QX24_TheFirstWalkAfterAnOpenReadsNoBlockOfDeletesAlone) {
  const std::uint64_t few = blocks_after_taken(20, Compacts::kNo);
  EXPECT_LE(blocks_after_taken(4'000, Compacts::kNo), few + 2 * kOfLargerFiles);
}

// Deletes that hide rows of an older file are read with these rows, once.
TEST(QueueWalks, QX24_TheFirstWalkAfterAnOpenRemembersWhereTheMessagesBegin) {
  constexpr int kTaken = 1'000;
  const auto prepare = [](Queue& queue, Store& store) {
    for (int i = 0; i < kTaken; ++i) (void)sent(queue, std::string(200, static_cast<char>('a' + i % 26)));
    EXPECT_EQ(said(store.compact()), kDone);
    for (int i = 0; i < kTaken; ++i) EXPECT_EQ(said(queue.remove(got(queue).front())), kDone);
    // A file of deletes alone would be compacted at once.
    for (int i = 0; i < 4 * kTaken; ++i) (void)sent(queue, "hidden", {.delay = 24h});
  };
  WalkedQueue walked(prepare, Compacts::kNo);
  (void)walked.blocks_of_a_walk(1);
  EXPECT_LE(walked.blocks_of_a_walk(1), blocks_after_taken(20) + 2 * kOfLargerFiles);
}

// A walk that finds no message knows that none is visible up to the hidden one. A put there ends that.
TEST(QueueWalks, QX24_AMessageThatIsPutBeforeTheKnownBeginningIsFound) {
  QueueBench bench;
  Queue queue = bench.queue();
  (void)sent(queue, "hidden", {.delay = 1h});
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) {
      (void)sent(queue, "taken");
      EXPECT_EQ(said(queue.remove(got(queue).front())), kDone);
    }
    EXPECT_EQ(got_texts(queue), std::vector<std::string>());
    (void)sent(queue, "before it");
    EXPECT_EQ(got_texts(queue, {.hold = 1s}), std::vector<std::string>{"before it"});
    bench.pass(2s);
    const std::vector<ReceivedMessage> again = got(queue);
    ASSERT_EQ(texts_of(again), std::vector<std::string>{"before it"}) << "its hold has ended";
    EXPECT_EQ(said(queue.remove(again.front())), kDone);
  }
}

// The rows of taken messages, which are not compacted, lie before the visible message. No scan knows them after an open.
TEST(QueueWalks, ThatMayEndEarlyDoSoAtManyTakenMessagesAndAGetGoesOn) {
  constexpr int kTaken = 200;
  QueueBench bench(1, OneThreadAtATime{});  // So no thread compacts them before the walk.
  Queue queue = bench.queue();
  for (int i = 0; i < kTaken; ++i) (void)sent(queue, "taken", {.delay = std::chrono::milliseconds(i)});
  bench.pass(1s);
  EXPECT_EQ(said(bench.store->compact()), kDone);
  for (int i = 0; i < kTaken; ++i) EXPECT_EQ(said(queue.remove(got(queue).front())), kDone);
  (void)sent(queue, "visible");
  bench.store.reset();
  {
    auto engine = bench.machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    LiveQueue live(bench.env, kWalkedQueue, QueueTraits(), MessageIdentity(0), OpenMoment());
    const auto claim = [](Sequence) { return true; };
    const auto walk = [&](WalkEnds ends) {
      return walk_visible((*engine)->view(), live, (*engine)->time(), 1, claim, {ends, nullptr, nullptr});
    };
    const Result<SeenMessages> early = walk(WalkEnds::kEarly);
    ASSERT_TRUE(early.ok());
    EXPECT_TRUE(early->has_stopped);
    EXPECT_TRUE(early->messages.empty());
    const Result<SeenMessages> whole = walk(WalkEnds::kAtLiveRow);
    ASSERT_TRUE(whole.ok());
    EXPECT_FALSE(whole->has_stopped);
    EXPECT_EQ(whole->messages.size(), 1U);
  }
  bench.open();
  Result<Queue> again = bench.store->open_queue(kAccount, "orders");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(got_texts(*again), std::vector<std::string>{"visible"});
}

TEST(QueueWalks, ReadNoTextOfAMessageThatAnotherGetHas) {
  constexpr int kLargeTexts = 10;
  WalkedQueue walked([](Queue& queue, Store& /*store*/) {
    for (int i = 0; i < kLargeTexts; ++i) (void)sent(queue, std::string(20'000, 'x'));
  });
  const std::uint64_t claimed = walked.blocks_of_a_walk(kLargeTexts + 1, false);
  EXPECT_GE(walked.blocks_of_a_walk(kLargeTexts + 1), claimed + kLargeTexts);
}

}  // namespace
}  // namespace varve::test::queue_walk_test
