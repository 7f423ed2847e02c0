// Goal: work that is divided among threads has the results of one thread, reported in order, whatever thread did it.
// Method: every schedule of many seeds; threads that the system refuses; work that lacks room while others work.
#include "engine/base/side_by_side.h"

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::side_by_side_test {
namespace {

std::vector<std::string> told_by(io::Scheduler& scheduler, std::size_t count,
                                 const std::function<Status(std::size_t)>& work) {
  std::vector<std::string> told;
  do_side_by_side(scheduler, count, work, [&](std::size_t at, const Status& status) {
    EXPECT_EQ(at, told.size());
    told.push_back(status.to_string());
  });
  return told;
}

Status odd_ones_fail(std::size_t at) {
  return at % 2 == 0 ? Status() : Status::io_error("number " + std::to_string(at));
}

TEST(SideBySide, TellsAllResultsInOrderWhateverTheSchedule) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(100); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Machine machine(seed, test::OneThreadAtATime{});
    for (const std::size_t count : std::vector<std::size_t>{0, 1, 2, 30}) {
      std::atomic<std::size_t> done{0};
      const std::vector<std::string> told = told_by(machine.scheduler(), count, [&](std::size_t at) {
        machine.scheduler().yield();
        ++done;
        return odd_ones_fail(at);
      });
      ASSERT_EQ(told.size(), count);
      ASSERT_EQ(done, count) << "each once";
      for (std::size_t at = 0; at < count; ++at) ASSERT_EQ(told[at], odd_ones_fail(at).to_string());
    }
  }
}

TEST(SideBySide, UsesSeveralThreads) {
  io::Scheduler scheduler;
  std::atomic<std::size_t> waiting{0};
  (void)told_by(scheduler, 2, [&](std::size_t) {
    ++waiting;
    while (waiting < 2) std::this_thread::yield();  // Ends only if another thread comes.
    return Status();
  });
  EXPECT_EQ(waiting, 2u);
}

TEST(SideBySide, WorkThatLackedRoomIsDoneAgainAlone) {
  io::Scheduler scheduler;
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> at_once{0};
  const std::vector<std::string> told = told_by(scheduler, 40, [&](std::size_t at) {
    const bool is_alone = ++at_once == 1;
    if (at % 8 == 0) std::this_thread::yield();
    Status status =
        std::this_thread::get_id() == caller && is_alone ? Status() : Status(Code::kTooManyFiles, "no room");
    --at_once;
    return status;
  });
  for (const std::string& status : told) EXPECT_EQ(status, "Ok");
  const std::vector<std::string> failed = told_by(scheduler, 3, [](std::size_t) -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(failed, std::vector<std::string>(3, Status::out_of_memory().to_string()));
}

TEST(SideBySide, EndsItsThreadsBeforeAFailureOfTheTellerLeavesIt) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Machine machine(seed, test::OneThreadAtATime{});
    constexpr int kCount = 2000;
    std::atomic<int> at_work{0};
    std::atomic<int> begun{0};
    const auto work = [&](std::size_t) {
      ++at_work;
      ++begun;
      machine.scheduler().yield();
      --at_work;
      return Status();
    };
    EXPECT_THROW(
        do_side_by_side(machine.scheduler(), kCount, work, [](std::size_t, const Status&) { throw std::bad_alloc(); }),
        std::bad_alloc);
    EXPECT_EQ(at_work, 0);
    EXPECT_LT(begun, kCount / 2) << "it has gone on";
  }
}

}  // namespace
}  // namespace varve::engine::side_by_side_test
