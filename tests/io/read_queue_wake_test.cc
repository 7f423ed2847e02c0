// Goal: wake() ends a reap that waits for a read that does not finish, once for each wake, and the read is not lost.
// Method: reads of a pipe block until the test writes to it, so a queue that missed a wake would wait without end. The
// contract suite tests the promises of all queues, including the in-memory queue, which never waits.
#include <array>
#include <atomic>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/posix/posix_file.h"
#include "io/posix/posix_file_system.h"
#include "io/posix/threaded_read_queue.h"
#include "io/simulated/memory_read_queue.h"
#include "io/uring/ring.h"
#include "io/uring/uring_read_queue.h"
#include "tests/io/child_process.h"
#include "tests/io/posix/refused_system_calls.h"
#include "tests/io/simulated/memory_test_support.h"
#include "tests/io/temporary_directory.h"
#include "tests/io/uring/interposed_ring.h"

namespace varve::io::read_queue_wake_test {
namespace {

/// The writable end of a pipe.
class PipeInlet {
 public:
  /// The readable end is moved to `outlet`.
  explicit PipeInlet(Descriptor& outlet) {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    outlet = Descriptor(ends[0]);
    inlet_ = Descriptor(ends[1]);
  }
  void write(std::string_view text) {
    EXPECT_EQ(::write(inlet_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

 private:
  Descriptor inlet_;
};

/// A pipe that a queue of threads can read: pread() does not work on a pipe.
class PipeFile final : public ReadableFile {
 public:
  explicit PipeFile(Descriptor outlet) : outlet_(std::move(outlet)) {}
  std::uint64_t size_bytes() const noexcept override { return 1'000'000; }
  FileKey key() const noexcept override { return {}; }
  Status read_exactly(std::uint64_t /*offset*/, std::span<std::byte> bytes) const override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::read(outlet_.get(), bytes.data() + done, bytes.size() - done);
      if (count <= 0) return Status::io_error("the pipe is closed");
      done += static_cast<std::size_t>(count);
    }
    return Status();
  }

 private:
  Descriptor outlet_;
};

struct Kind {
  const char* name;
  Result<std::unique_ptr<ReadQueue>> (*make)(Scheduler& scheduler, std::size_t depth);
  std::unique_ptr<ReadableFile> (*open)(Descriptor outlet);
};

Result<std::unique_ptr<ReadQueue>> make_ring(Scheduler& /*scheduler*/, std::size_t depth) {
  return UringReadQueue::make(depth);
}
std::unique_ptr<ReadableFile> open_for_ring(Descriptor outlet) {
  return std::make_unique<PosixReadableFile>(std::move(outlet), "pipe", 1'000'000, false);
}
std::unique_ptr<ReadableFile> open_for_threads(Descriptor outlet) {
  return std::make_unique<PipeFile>(std::move(outlet));
}

class ReadQueueWake : public testing::TestWithParam<Kind> {
 protected:
  static constexpr std::size_t kDepth = 4;

  void SetUp() override {
    Result<std::unique_ptr<ReadQueue>> made = GetParam().make(scheduler_, kDepth);
    if (!made.ok()) {
      ASSERT_FALSE(probe_io_uring().ok())
          << "only a machine that gives no ring may do without: " << made.status().to_string();
      GTEST_SKIP() << made.status().to_string();
    }
    queue_ = *std::move(made);
    ASSERT_TRUE(is_ok(queue_->allow_wake()));
    Descriptor outlet;
    stalled_inlet_ = std::make_unique<PipeInlet>(outlet);
    stalled_ = GetParam().open(std::move(outlet));
    ready_inlet_ = std::make_unique<PipeInlet>(outlet);
    ready_ = GetParam().open(std::move(outlet));
  }
  void TearDown() override {
    // A failed test may have left a read without data, for which the queue would wait.
    if (queue_ && queue_->in_flight() > 0) stalled_inlet_->write("........................");
  }

  std::size_t reap(std::size_t wait_count) { return queue_->reap(finished_, wait_count); }
  /// Submits a read that blocks until feed().
  void submit_stalled() { ASSERT_TRUE(is_ok(queue_->submit(*stalled_, 0, stalled_memory_, kStalled))); }
  void feed() { stalled_inlet_->write("late"); }
  /// Submits a read whose bytes are available.
  void submit_ready() {
    ready_inlet_->write("soon");
    ASSERT_TRUE(is_ok(queue_->submit(*ready_, 0, ready_memory_, kReady)));
  }
  /// Expects that the awaited read was returned, and no other.
  void expect_told(std::uint64_t tag) {
    EXPECT_EQ(finished_[0].tag, tag);
    EXPECT_TRUE(is_ok(finished_[0].status));
    EXPECT_EQ(tag == kStalled ? stalled_memory_ : ready_memory_, bytes_of(tag == kStalled ? "late" : "soon"));
  }
  /// Makes a reap wait, and leaves its alarm set: a read ended the reap.
  void leave_alarm_set() {
    submit_stalled();
    submit_ready();
    ASSERT_EQ(reap(1), 1U);
    expect_told(kReady);
  }
  void end_stalled() {
    feed();
    ASSERT_EQ(reap(1), 1U);
    expect_told(kStalled);
  }

  static constexpr std::uint64_t kStalled = 11;
  static constexpr std::uint64_t kReady = 22;
  Scheduler scheduler_;
  std::unique_ptr<PipeInlet> stalled_inlet_;
  std::unique_ptr<PipeInlet> ready_inlet_;
  std::unique_ptr<ReadableFile> stalled_;
  std::unique_ptr<ReadableFile> ready_;
  Bytes stalled_memory_ = bytes_of("????");
  Bytes ready_memory_ = bytes_of("????");
  std::array<FinishedRead, kDepth> finished_;
  std::unique_ptr<ReadQueue> queue_;
};

TEST_P(ReadQueueWake, AWakeBeforeEndsTheNextReapThatWaits) {
  for (int round = 0; round < 20; ++round) {
    submit_stalled();
    queue_->wake();
    EXPECT_EQ(reap(1), 0U);
    EXPECT_EQ(queue_->in_flight(), 1U);
    end_stalled();
  }
}

TEST_P(ReadQueueWake, AWakeByAnotherThreadEndsTheReapThatWaits) {
  submit_stalled();
  for (int round = 0; round < 200; ++round) {
    std::thread waker([this] { queue_->wake(); });
    EXPECT_EQ(reap(1), 0U);
    waker.join();
  }
  end_stalled();
}

TEST_P(ReadQueueWake, AReapThatDoesNotWaitLeavesTheWakeToTheNextOne) {
  submit_stalled();
  queue_->wake();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reap(0), 0U);
  EXPECT_EQ(reap(1), 0U);
  end_stalled();
}

TEST_P(ReadQueueWake, SoItDoesWhereTheAlarmWasSetBefore) {
  leave_alarm_set();
  queue_->wake();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reap(0), 0U);
  EXPECT_EQ(reap(1), 0U);
  end_stalled();
}

TEST_P(ReadQueueWake, ManyWakesAreNoMoreEarlyReturnsThanWakes) {
  constexpr int kWakes = 50;
  submit_stalled();
  for (int i = 0; i < kWakes; ++i) queue_->wake();
  EXPECT_EQ(reap(1), 0U);
  feed();
  int early = 1;
  while (reap(1) == 0) ++early;
  EXPECT_LE(early, kWakes);
  expect_told(kStalled);
  // No wake is left.
  submit_stalled();
  std::thread feeder([this] { feed(); });
  EXPECT_EQ(reap(1), 1U);
  feeder.join();
}

TEST_P(ReadQueueWake, WhatIsFinishedIsToldByAReapThatIsWoken) {
  submit_stalled();
  submit_ready();
  std::size_t told = 0;
  while (told == 0) {
    queue_->wake();
    told = reap(2);
  }
  ASSERT_EQ(told, 1U);
  expect_told(kReady);
  end_stalled();
}

TEST_P(ReadQueueWake, AQueueGoesWithItsAlarmSet) {
  leave_alarm_set();
  feed();
  queue_.reset();
  EXPECT_TRUE(stalled_memory_ == bytes_of("late") || stalled_memory_ == bytes_of("????"));
}

TEST_P(ReadQueueWake, AQueueGoesWithItsAlarmSetAndNothingInFlight) {
  leave_alarm_set();
  end_stalled();
  std::thread([this] { queue_.reset(); }).join();
}

TEST_P(ReadQueueWake, TheEndOfTheThreadThatWaitedLastIsNoWake) {
  for (int round = 0; round < 20; ++round) {
    std::thread([this] {
      leave_alarm_set();
      end_stalled();
    }).join();
    submit_stalled();
    std::atomic<bool> waits{false};
    std::thread feeder([&] {
      while (!waits.load()) std::this_thread::yield();
      for (int i = 0; i < 20; ++i)
        std::this_thread::yield();  // The reap may have begun before or after; both orders are right.
      feed();
    });
    waits.store(true);
    EXPECT_EQ(reap(1), 1U) << "round " << round;
    feeder.join();
    while (queue_->in_flight() > 0) (void)reap(1);
  }
}

TEST_P(ReadQueueWake, AnotherThreadThanTheOneThatWaitedLastIsWokenToo) {
  std::thread([this] {
    leave_alarm_set();
    end_stalled();
  }).join();
  submit_stalled();
  std::thread waker([this] { queue_->wake(); });
  EXPECT_EQ(reap(1), 0U);
  waker.join();
  end_stalled();
}

INSTANTIATE_TEST_SUITE_P(Every, ReadQueueWake,
                         testing::Values(Kind{"threads", &ThreadedReadQueue::make, &open_for_threads},
                                         Kind{"io_uring", &make_ring, &open_for_ring}),
                         [](const auto& each) { return each.param.name; });

/// Returns the number of reads, of ten, that a reap for all of them returns.
std::size_t reap_ten(ReadQueue& queue, const ReadableFile& file) {
  std::array<Bytes, 10> memory;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] = bytes_of("?");
    EXPECT_TRUE(is_ok(queue.submit(file, i, memory[i], i)));
  }
  std::array<FinishedRead, 10> finished;
  const std::size_t count = queue.reap(finished, finished.size());
  while (queue.in_flight() > 0) (void)queue.reap(finished, finished.size());
  return count;
}

TEST(ReadQueueWakeInMemory, AWakeEndsOneReapAsEarlyAsTheSeedSays) {
  MemoryMachine machine;
  machine.write_durably("a", "0123456789");
  const std::unique_ptr<ReadableFile> file = *machine.store().open("a", ReadMode::kCached);
  MemoryReadQueue queue(10, 5);
  std::size_t early = 0;
  for (int round = 0; round < 100; ++round) {
    EXPECT_EQ(reap_ten(queue, *file), 10U);
    queue.wake();
    std::array<FinishedRead, 1> none;
    EXPECT_EQ(queue.reap(none, 0), 0U);
    if (reap_ten(queue, *file) < 10) ++early;
  }
  EXPECT_GT(early, 50U);
}

// -- A ring that is lost, or cannot be had ----------------------------------------------------------------------------

TEST(RingAlarm, ThatTheKernelRefusesIsTold) {
  const std::vector<RefusedCall> kinds[] = {
      {{SYS_eventfd2, EMFILE}}, {{SYS_eventfd2, ENFILE}}, {{SYS_fcntl, EMFILE, {{1, F_DUPFD_CLOEXEC}}}}};
  for (const std::vector<RefusedCall>& refused : kinds) {
    const std::string answer = in_child([&] {
      Result<std::unique_ptr<ReadQueue>> made = UringReadQueue::make(2);
      if (!made.ok()) return std::string("TooManyFiles: no ring");
      ::close(0);
      refuse_system_calls(refused);
      return (*made)->allow_wake().to_string();
    });
    EXPECT_EQ(answer.find("TooManyFiles: "), 0U) << answer;
  }
}

TEST(RingAlarm, GoesWithARingThatIsRefusedAndWhatIsInFlightIsReadByCalls) {
  Result<std::unique_ptr<ReadQueue>> made = UringReadQueue::make(4);
  if (!made.ok()) {
    ASSERT_FALSE(probe_io_uring().ok()) << "only a machine that gives no ring may do without: "
                                        << made.status().to_string();
    GTEST_SKIP() << made.status().to_string();
  }
  const std::unique_ptr<ReadQueue> queue = *std::move(made);
  ASSERT_TRUE(is_ok(queue->allow_wake()));
  TemporaryDirectory place;
  Result<std::unique_ptr<Directory>> directory = PosixFileSystem().open_directory(place.path());
  ASSERT_TRUE(is_ok(directory));
  ASSERT_TRUE(is_ok(write_whole(**directory, "a", bytes_of("soon"))));
  const Result<std::unique_ptr<ReadableFile>> file = (*directory)->open("a", ReadMode::kCached);
  ASSERT_TRUE(is_ok(file));

  RingMisfortune misfortune;
  misfortune.on_enter = [](unsigned) { return EPERM; };
  std::array<FinishedRead, 4> finished;
  for (int round = 0; round < 2; ++round) {
    Bytes memory = bytes_of("????");
    ASSERT_TRUE(is_ok(queue->submit(**file, 0, memory, 7)));
    ASSERT_EQ(queue->reap(finished, 1), 1U);
    EXPECT_EQ(finished[0].tag, 7U);
    EXPECT_TRUE(is_ok(finished[0].status));
    EXPECT_EQ(memory, bytes_of("soon"));
  }
  EXPECT_NE(queue->name(), "io_uring");
  queue->wake();  // No reap will wait here again; the wake is no error.
}

}  // namespace
}  // namespace varve::io::read_queue_wake_test
