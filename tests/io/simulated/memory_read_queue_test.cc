// Reads of files in memory: their order, their faults, and detection of a caller that does not wait.
#include "io/simulated/memory_read_queue.h"

#include <array>
#include <set>

#include <gtest/gtest.h>

#include "tests/io/simulated/memory_test_support.h"

namespace varve::io::memory_read_queue_test {
namespace {

constexpr std::size_t kReads = 6;

class MemoryReadQueueTest : public testing::Test {
 protected:
  MemoryReadQueueTest() {
    machine_.write_durably("a", "0123456789");
    file_ = *machine_.store().open("a", ReadMode::kCached);
  }

  std::unique_ptr<ReadQueue> make_queue() {
    Result<std::unique_ptr<ReadQueue>> made = machine_.files().make_read_queue(scheduler_, kReads);
    EXPECT_TRUE(is_ok(made));
    return *std::move(made);
  }

  void submit_all(ReadQueue& queue) {
    for (std::size_t i = 0; i < kReads; ++i) {
      memory_[i] = bytes_of("?");
      ASSERT_TRUE(is_ok(queue.submit(*file_, i, memory_[i], i)));
    }
  }

  /// Returns the tags in the order of their return, with a bar after each reap().
  std::string order_of(ReadQueue& queue) {
    submit_all(queue);
    std::string order;
    std::array<FinishedRead, kReads> finished;
    while (queue.in_flight() > 0) {
      const std::size_t count = queue.reap(finished, 1);
      for (std::size_t i = 0; i < count; ++i) order += std::to_string(finished[i].tag);
      order += "|";
    }
    return order;
  }

  MemoryMachine machine_;
  Scheduler scheduler_;
  std::unique_ptr<ReadableFile> file_;
  std::array<Bytes, kReads> memory_;
};

TEST_F(MemoryReadQueueTest, TheSeedDecidesTheOrder) {
  std::set<std::string> orders;
  std::set<char> first;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    machine_.files().set_read_order(seed);
    const std::string order = order_of(*make_queue());
    machine_.files().set_read_order(seed);
    EXPECT_EQ(order_of(*make_queue()), order);
    orders.insert(order);
    first.insert(order[0]);
  }
  EXPECT_GT(orders.size(), 150U);
  EXPECT_EQ(first.size(), kReads) << "any read may be the first to finish";
}

TEST_F(MemoryReadQueueTest, QueuesOfOneFileSystemHaveOrdersOfTheirOwn) {
  std::set<std::string> orders;
  for (int queue = 0; queue < 20; ++queue) orders.insert(order_of(*make_queue()));
  EXPECT_GT(orders.size(), 10U);
}

TEST_F(MemoryReadQueueTest, MemoryInFlightHoldsNeitherTheOldNorTheNew) {
  const std::unique_ptr<ReadQueue> queue = make_queue();
  submit_all(*queue);
  for (const Bytes& bytes : memory_) EXPECT_EQ(bytes, Bytes(1, MemoryReadQueue::kScribble));
  FinishedRead one;
  ASSERT_EQ(queue->reap(std::span(&one, 1), 1), 1U);
  for (std::size_t i = 0; i < kReads; ++i) {
    EXPECT_EQ(memory_[i], i == one.tag ? bytes_of(std::to_string(i)) : Bytes(1, MemoryReadQueue::kScribble));
  }
}

TEST_F(MemoryReadQueueTest, AFaultFallsOnItsReadAlone) {
  for (std::size_t unlucky = 0; unlucky < kReads; ++unlucky) {
    SCOPED_TRACE(unlucky);
    FaultRule rule;
    rule.kind = OperationKind::kRead;
    rule.predicate = [unlucky](const Operation& operation) { return operation.offset == unlucky; };
    machine_.files().faults().add(rule);
    const std::unique_ptr<ReadQueue> queue = make_queue();
    submit_all(*queue);
    std::array<FinishedRead, kReads> finished;
    ASSERT_EQ(queue->reap(finished, kReads), kReads);
    for (const FinishedRead& read : finished) {
      if (read.tag == unlucky) {
        EXPECT_TRUE(fails_with(read.status, Code::kIoError, "/store/a"));
      } else {
        EXPECT_TRUE(is_ok(read.status));
        EXPECT_EQ(memory_[read.tag], bytes_of(std::to_string(read.tag)));
      }
    }
    machine_.files().faults().clear();
  }
}

TEST_F(MemoryReadQueueTest, TheEndOfAQueueFinishesItsReadsIntoTheirMemory) {
  std::unique_ptr<ReadQueue> queue = make_queue();
  submit_all(*queue);
  queue.reset();
  for (std::size_t i = 0; i < kReads; ++i) EXPECT_EQ(memory_[i], bytes_of(std::to_string(i)));
}

}  // namespace
}  // namespace varve::io::memory_read_queue_test
