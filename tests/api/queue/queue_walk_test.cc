// Goal: a walk over the visible messages costs as much as they do: not more for hidden messages, however many there are,
// and not more for messages that were taken.
// Method: the blocks of table files that a walk touches are counted, beside few and beside many other messages.
#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include "api/queue/message_walk.h"
#include "tests/api/queue/queue_bench.h"

namespace varve::test {
namespace {

using namespace std::chrono_literals;

/// The id of the first queue of the first account.
constexpr format::TableId kWalkedQueue = format::make_table_id(1, 1);

/// Returns the blocks that a walk over one visible message touches. It comes after `prepare`, whose messages are in
/// table files.
template <typename Prepare>
std::uint64_t blocks_of_a_walk(const Prepare& prepare) {
  QueueBench bench;
  Queue queue = bench.queue();
  prepare(queue);
  EXPECT_EQ(said(bench.store->compact()), kDone);
  (void)sent(queue, "visible");
  bench.store.reset();
  auto engine = bench.machine.open();
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  if (!engine.ok()) return 0;
  engine::ReadCost cost;
  const Result<SeenMessages> seen =
      walk_visible((*engine)->view(), kWalkedQueue, (*engine)->time(), 32, [](Sequence) { return true; }, &cost);
  EXPECT_TRUE(seen.ok()) << seen.status().to_string();
  if (!seen.ok()) return 0;
  EXPECT_EQ(seen->messages.size(), 1U);
  return cost.blocks_read + cost.blocks_from_cache;
}

std::uint64_t blocks_beside_hidden(int hidden) {
  return blocks_of_a_walk([hidden](Queue& queue) {
    for (int i = 0; i < hidden; ++i) (void)sent(queue, "hidden", {.delay = 24h});
  });
}

std::uint64_t blocks_after_taken(int taken) {
  return blocks_of_a_walk([taken](Queue& queue) {
    (void)sent(queue, "hidden", {.delay = 24h});  // so that the file is not empty
    for (int i = 0; i < taken; ++i) {
      (void)sent(queue, "taken");
      EXPECT_EQ(said(queue.remove(got(queue).front())), kDone);
    }
  });
}

TEST(QueueWalks, CostNoMoreBesideManyHiddenMessages) {
  const std::uint64_t few = blocks_beside_hidden(20);
  EXPECT_GT(few, 0U);
  EXPECT_EQ(blocks_beside_hidden(4'000), few);
}

TEST(QueueWalks, QX24_CostNoMoreAfterManyTakenMessages) {
  const std::uint64_t few = blocks_after_taken(20);
  EXPECT_GT(few, 0U);
  EXPECT_EQ(blocks_after_taken(2'000), few);
}

}  // namespace
}  // namespace varve::test
