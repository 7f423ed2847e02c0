// Reads by threads: under every schedule, and if the system refuses threads.
#include "io/posix/threaded_read_queue.h"

#include <array>
#include <cerrno>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/io/child_process.h"
#include "tests/io/posix/posix_test_support.h"
#include "tests/io/posix/refused_system_calls.h"

namespace varve::io::threaded_read_queue_test {
namespace {

class ThreadedReadQueueTest : public PosixTest {
 protected:
  void SetUp() override {
    expected_ = bytes_by_seed(51, 20'000);
    ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected_)));
    file_ = *directory().open("a", ReadMode::kCached);
  }

  /// Makes forty reads, five at a time, and three more that the test does not reap. Returns "Ok" or the fault.
  std::string read_some(Scheduler& scheduler) {
    std::array<Bytes, 43> memory;
    Result<std::unique_ptr<ReadQueue>> made = ThreadedReadQueue::make(scheduler, 5);
    if (!made.ok()) return made.status().to_string();
    ReadQueue& queue = **made;
    std::array<FinishedRead, 5> finished;
    std::size_t submitted = 0;
    std::size_t done = 0;
    while (done < 40) {
      while (submitted < 40 && queue.in_flight() < 5) {
        memory[submitted].resize(500);
        if (!queue.submit(*file_, submitted * 400, memory[submitted], submitted).ok()) return "refused";
        ++submitted;
      }
      const std::size_t wait_count = done % 4;
      const std::size_t count = queue.reap(finished, wait_count);
      if (count < std::min(wait_count, queue.in_flight() + count)) return "did not wait";
      for (std::size_t i = 0; i < count; ++i) {
        const Bytes& bytes = memory[finished[i].tag];
        const auto begin = expected_.begin() + static_cast<std::ptrdiff_t>(finished[i].tag * 400);
        if (!finished[i].status.ok() || !std::equal(bytes.begin(), bytes.end(), begin)) return "other bytes";
      }
      done += count;
      if (count == 0) scheduler.yield();
    }
    for (; submitted < 43; ++submitted) {
      memory[submitted].resize(500);
      if (!queue.submit(*file_, submitted * 400, memory[submitted], submitted).ok()) return "refused";
    }
    return "Ok";
  }

  Bytes expected_;
  std::unique_ptr<ReadableFile> file_;
};

TEST_F(ThreadedReadQueueTest, EveryScheduleReadsTheSame) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    ManualClock clock;
    SeededScheduler simulation(seed, clock);
    ASSERT_EQ(read_some(simulation.scheduler()), "Ok");
  }
}

TEST_F(ThreadedReadQueueTest, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::array<std::uint64_t, 2> hashes{};
    for (std::uint64_t& hash : hashes) {
      ManualClock clock;
      SeededScheduler simulation(seed, clock);
      ASSERT_EQ(read_some(simulation.scheduler()), "Ok");
      hash = simulation.trace_hash();
    }
    EXPECT_EQ(hashes[0], hashes[1]);
  }
}

TEST_F(ThreadedReadQueueTest, WhereThreadsAreRefusedItReadsInSubmit) {
  EXPECT_EQ(in_child([&] {
              refuse_system_calls({{SYS_clone3, EAGAIN}, {SYS_clone, EAGAIN}});
              Scheduler scheduler;
              return read_some(scheduler);
            }),
            "Ok");
}

TEST_F(ThreadedReadQueueTest, AQueueOfOneHasNoThread) {
  EXPECT_EQ(in_child([&] {
              refuse_system_calls({{SYS_clone3, 0}, {SYS_clone, 0}});  // a thread that never runs
              Scheduler scheduler;
              const std::unique_ptr<ReadQueue> queue = *ThreadedReadQueue::make(scheduler, 1);
              Bytes bytes(5);
              FinishedRead finished;
              const Status begun = queue->submit(*file_, 0, bytes, 7);
              const std::size_t count = queue->reap(std::span(&finished, 1), 1);
              return told(begun) + " " + std::to_string(count) + " " + told(finished.status);
            }),
            "Ok 1 Ok");
}

}  // namespace
}  // namespace varve::io::threaded_read_queue_test
