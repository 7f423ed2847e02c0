// Goal: if the disk is full, verbs of queues are refused and change nothing, or are done; a clear and a drop are always
// done; and all goes on when there is room (QX-05, QX-07).
// Method: the disk in memory gets a capacity, and rows fill the rest. Messages are long, so that their changes are refused
// for sure. Afterwards the store is verified.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/full_disk.h"
#include "tests/api/queue/queue_bench.h"
#include "varve/store_transaction.h"
#include "varve/verify.h"

namespace varve::test::queue_full_disk_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// So long that its change has no room, and so short that it moves with its row.
std::string long_text(char letter) {
  return std::string(12'000, letter);
}

class QueuesOnAFullDisk : public testing::Test {
 protected:
  void expect_sound() {
    EXPECT_EQ(said(bench_.store->close()), kDone);
    bench_.store.reset();
    StoreOptions options;
    options.env = &bench_.env;
    const Result<VerifyReport> report = Store::verify(kStorePath, options);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    for (const std::string& finding : report->findings) ADD_FAILURE() << finding;
  }

  QueueBench bench_;
  Queue queue_ = bench_.queue();
};

TEST_F(QueuesOnAFullDisk, QX05_QX07_RefusedVerbsChangeNothing) {
  Table orders = bench_.table();
  (void)sent(queue_, long_text('a'));
  const ReceivedMessage held = got(queue_).front();
  (void)sent(queue_, long_text('b'));
  (void)sent(queue_, long_text('c'));
  FullDisk disk(bench_);
  disk.fill();
  EXPECT_EQ(queue_.put(long_text('d')).code(), Code::kNoSpace);
  EXPECT_EQ(queue_.get().code(), Code::kNoSpace);
  EXPECT_EQ(queue_.update(held.id, held.receipt, std::chrono::seconds(0), long_text('e')).code(), Code::kNoSpace);
  StoreTransaction transaction = *bench_.store->begin_transaction();
  transaction.insert(orders, Entity("p", "1")).put(queue_, long_text('f')).remove(queue_, held);
  EXPECT_EQ(transaction.commit().code(), Code::kNoSpace);
  EXPECT_THAT(peeked(queue_), ElementsAre(long_text('b'), long_text('c')));
  EXPECT_EQ(counted(queue_), 3U);
  EXPECT_FALSE(read(orders, "p", "1"));
  disk.give_room();
  EXPECT_EQ(said_with_patience([&] { return queue_.put(long_text('d')); }), kDone);
  EXPECT_EQ(said(queue_.remove(held)), kDone) << "its receipt is still the last one";
  EXPECT_THAT(got_texts(queue_, {.count = 32}), ElementsAre(long_text('b'), long_text('c'), long_text('d')));
  EXPECT_EQ(counted(queue_), 3U);
  expect_sound();
}

TEST_F(QueuesOnAFullDisk, QX07_ADeleteIsDoneOrRefusedAndAClearAndADropAreDone) {
  Queue dropped = bench_.queue("dropped");
  (void)sent(dropped, "x");
  for (const char letter : {'a', 'b', 'c'}) (void)sent(queue_, std::string(1, letter));
  const std::vector<ReceivedMessage> held = got(queue_, {.count = 2, .hold = std::chrono::hours(1)});
  ASSERT_EQ(held.size(), 2U);
  std::uint64_t left = 3;
  {
    FullDisk disk(bench_);
    disk.fill();
    for (const ReceivedMessage& message : held) {
      const Status removed = queue_.remove(message);
      EXPECT_TRUE(is_done_or_refused(removed)) << removed.to_string();
      if (removed.ok()) --left;
      EXPECT_EQ(counted(queue_), left);
    }
    EXPECT_EQ(said(bench_.store->drop_queue(kAccount, "dropped")), kDone);
    EXPECT_EQ(said(queue_.clear()), kDone);
    EXPECT_EQ(counted(queue_), 0U);
    EXPECT_THAT(peeked(queue_), IsEmpty());
  }
  EXPECT_EQ(said(dropped.peek()), kQueueGone);
  EXPECT_EQ(said_with_patience([&] { return queue_.put("after"); }), kDone);
  const std::vector<ReceivedMessage> after = got(queue_);
  EXPECT_THAT(texts_of(after), ElementsAre("after"));
  EXPECT_EQ(said(queue_.remove(after.front())), kDone);
  EXPECT_EQ(said(queue_.remove(held.front())), kMessageGone);
  expect_sound();
}

}  // namespace
}  // namespace varve::test::queue_full_disk_test
