// Goal: a walk over the visible messages costs nothing for those that are hidden, however many there are.
// Method: hidden messages lie in table files, and the walk's blocks are counted.
#include <chrono>

#include <gtest/gtest.h>

#include "api/queue/message_walk.h"
#include "tests/api/queue/queue_bench.h"

namespace varve::test {
namespace {

using namespace std::chrono_literals;

/// The id of the first queue of the first account.
constexpr format::TableId kWalkedQueue = format::make_table_id(1, 1);
constexpr int kHiddenMessages = 300;

class QueueWalks : public testing::Test {
 protected:
  QueueWalks() {
    Queue queue = bench_.queue();
    for (int i = 0; i < kHiddenMessages; ++i) (void)sent(queue, "hidden", {.delay = 24h});
    EXPECT_EQ(said(bench_.store->compact()), kDone);
    (void)sent(queue, "visible");
    bench_.store.reset();
    auto opened = bench_.machine.open();
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  SeenMessages walk(std::uint32_t count, engine::ReadCost& cost) {
    Result<SeenMessages> seen = walk_visible(
        engine_->view(), kWalkedQueue, engine_->time(), count, [](Sequence) { return true; }, &cost);
    EXPECT_TRUE(seen.ok()) << seen.status().to_string();
    return seen.ok() ? *std::move(seen) : SeenMessages();
  }

  QueueBench bench_;
  std::unique_ptr<engine::Engine> engine_;
};

TEST_F(QueueWalks, TouchNoFileOfHiddenMessages) {
  engine::ReadCost cost;
  const SeenMessages seen = walk(32, cost);
  ASSERT_EQ(seen.messages.size(), 1u);
  EXPECT_EQ(seen.messages.front().text, "visible");
  EXPECT_EQ(cost.blocks_read + cost.blocks_from_cache, 0u);
}

TEST_F(QueueWalks, FindTheTimeOfTheFirstHiddenMessageIfNoneIsVisible) {
  engine::ReadCost cost;
  Result<SeenMessages> seen = walk_visible(
      engine_->view(), kWalkedQueue, engine_->time(), 1, [](Sequence) { return false; }, &cost);
  ASSERT_TRUE(seen.ok()) << seen.status().to_string();
  EXPECT_TRUE(seen->messages.empty());
  ASSERT_TRUE(seen->next_visible.has_value());
  EXPECT_GT(*seen->next_visible, engine_->time());
  EXPECT_EQ(cost.blocks_read + cost.blocks_from_cache, 0u);
}

}  // namespace
}  // namespace varve::test
