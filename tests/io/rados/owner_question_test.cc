// Goal: a reader gets the answer to a question that was sent after it came, and readers of one moment share a question.
// Method: threads ask under a seeded scheduler. The answer to a question is its number.
#include "io/rados/owner_question.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/io/io_test_support.h"

namespace varve::io::owner_question_test {
namespace {

using std::chrono::milliseconds;

class OwnerQuestions : public testing::TestWithParam<std::uint64_t> {
 protected:
  OwnerQuestions() : simulation_(GetParam(), clock_) {}
  Scheduler& scheduler() { return simulation_.scheduler(); }

  ManualClock clock_;
  SeededScheduler simulation_;
};

TEST_P(OwnerQuestions, AreSentAfterTheReadersThatTheyServeAndAreShared) {
  constexpr std::uint64_t kReaders = 6;
  constexpr std::uint64_t kReads = 10;
  std::uint64_t number = 0;
  OwnerQuestion question(scheduler(), clock_, [&] {
    const std::string text = std::to_string(++number);
    scheduler().yield();  // Other readers come meanwhile.
    return Status(Code::kFenced, text);
  });
  ASSERT_TRUE(is_ok(question.start()));
  std::atomic<std::uint64_t> too_old{0};
  {
    std::vector<Thread> readers;
    for (std::uint64_t reader = 0; reader < kReaders; ++reader) {
      Result<Thread> thread = scheduler().start("reader", [&] {
        for (std::uint64_t read = 0; read < kReads; ++read) {
          const std::uint64_t sent = question.sent();
          const Status answer = question.ask(milliseconds(0));
          if (std::stoull(std::string(answer.message())) <= sent) ++too_old;
        }
      });
      ASSERT_TRUE(is_ok(thread));
      readers.push_back(*std::move(thread));
    }
  }
  EXPECT_EQ(too_old, 0U);
  EXPECT_LT(question.sent(), kReaders * kReads) << "no two readers shared a question";
  EXPECT_EQ(question.sent(), number);
}

TEST_P(OwnerQuestions, AreSentWithoutAReaderToo) {
  Mutex mutex(scheduler());
  Condition asked_more(scheduler());
  int asked = 0;
  OwnerQuestion question(scheduler(), clock_, [&] {
    const MutexGuard guard(mutex);
    ++asked;
    asked_more.notify_all();
    return Status();
  });
  ASSERT_TRUE(is_ok(question.start()));
  question.send();
  {
    const MutexGuard guard(mutex);
    while (asked == 0) asked_more.wait(mutex);
  }
  EXPECT_TRUE(is_ok(question.ask(milliseconds(0)))) << "which is another one";
  EXPECT_EQ(question.sent(), 2U);
}

TEST_P(OwnerQuestions, ThatFindNoMemoryEndTheirReaders) {
  int asked = 0;
  OwnerQuestion question(scheduler(), clock_, [&]() -> Status {
    if (++asked == 1) throw std::bad_alloc();
    return Status();
  });
  ASSERT_TRUE(is_ok(question.start()));
  EXPECT_TRUE(fails_with(question.ask(milliseconds(0)), Code::kOutOfMemory));
  EXPECT_TRUE(is_ok(question.ask(milliseconds(0))));
}

// One that was sent before the reader came takes two seconds, and so does its own.
TEST_P(OwnerQuestions, WaitForOnePatienceTogether) {
  OwnerQuestion question(scheduler(), clock_, [&] {
    Mutex mutex(scheduler());
    Condition never(scheduler());
    const MutexGuard guard(mutex);
    (void)never.wait_for(mutex, milliseconds(2000));
    return Status();
  });
  ASSERT_TRUE(is_ok(question.start()));
  question.send();
  while (question.sent() == 0) scheduler().yield();
  const auto began = clock_.monotonic();
  EXPECT_TRUE(fails_with(question.ask(milliseconds(3000)), Code::kBusy));
  EXPECT_LT(clock_.monotonic() - began, milliseconds(3500));
  EXPECT_TRUE(is_ok(question.ask(milliseconds(5000))));
}

INSTANTIATE_TEST_SUITE_P(Seeds, OwnerQuestions, testing::Range(std::uint64_t{1}, std::uint64_t{6}));

}  // namespace
}  // namespace varve::io::owner_question_test
