#include "io/posix/posix_transfer.h"

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>

namespace varve::io::posix_transfer_test {
namespace {

/// A scripted call. Each entry is a number of bytes, or a negative errno. The last entry repeats.
struct Script {
  std::vector<int> results;
  std::vector<std::size_t> asked_at;

  ssize_t operator()(std::size_t done) {
    const int result = asked_at.size() < results.size() ? results[asked_at.size()] : results.back();
    asked_at.push_back(done);
    if (result >= 0) return result;
    errno = -result;
    return -1;
  }
};

Transfer run(Script& script, std::size_t total, std::size_t unit = 1) {
  return transfer_all(total, unit, [&](std::size_t done) { return script(done); });
}

TEST(PosixTransfer, NothingToDoMakesNoCall) {
  Script script{{5}, {}};
  EXPECT_EQ(run(script, 0).done_bytes, 0U);
  EXPECT_TRUE(script.asked_at.empty());
}

TEST(PosixTransfer, ShortTransfersAreContinuedWhereTheyEnded) {
  Script script{{3, 1, 6}, {}};
  const Transfer transfer = run(script, 10);
  EXPECT_EQ(transfer.done_bytes, 10U);
  EXPECT_EQ(transfer.error, 0);
  EXPECT_EQ(script.asked_at, (std::vector<std::size_t>{0, 3, 4}));
}

TEST(PosixTransfer, AShortTransferInsideAUnitIsContinuedFromItsBeginning) {
  Script script{{4096 + 512, 4096, 4096}, {}};
  const Transfer transfer = run(script, 3 * 4096, 4096);
  EXPECT_EQ(transfer.done_bytes, 3U * 4096);
  EXPECT_EQ(script.asked_at, (std::vector<std::size_t>{0, 4096, 8192}));
}

TEST(PosixTransfer, MoreThanAskedForEndsAtWhatWasAskedFor) {
  Script script{{8192}, {}};
  EXPECT_EQ(run(script, 5000, 4096).done_bytes, 5000U);
}

TEST(PosixTransfer, InterruptionsAreRetriedAndForgottenAfterProgress) {
  Script script{{-EINTR, -EAGAIN, 4, -EINTR, 6}, {}};
  const Transfer transfer = run(script, 10);
  EXPECT_EQ(transfer.done_bytes, 10U);
  EXPECT_EQ(script.asked_at, (std::vector<std::size_t>{0, 0, 0, 4, 4}));
}

TEST(PosixTransfer, InterruptionsWithoutEndAreAnError) {
  for (const int error : {EINTR, EAGAIN}) {
    Script script{{4, -error}, {}};
    const Transfer transfer = run(script, 10);
    EXPECT_EQ(transfer.done_bytes, 4U);
    EXPECT_EQ(transfer.error, error);
    EXPECT_EQ(script.asked_at.size(), 1U + kInterruptionsMax);
  }
}

TEST(PosixTransfer, OtherErrorsEndItAtOnce) {
  Script script{{4, -EIO, 6}, {}};
  const Transfer transfer = run(script, 10);
  EXPECT_EQ(transfer.done_bytes, 4U);
  EXPECT_EQ(transfer.error, EIO);
  EXPECT_EQ(script.asked_at.size(), 2U);
}

TEST(PosixTransfer, ACallWithoutProgressEndsItWithoutAnErrno) {
  Script script{{4, 0, 6}, {}};
  const Transfer transfer = run(script, 10);
  EXPECT_EQ(transfer.done_bytes, 4U);
  EXPECT_EQ(transfer.error, 0);
  EXPECT_EQ(script.asked_at.size(), 2U);
}

TEST(PosixTransfer, LessThanAUnitIsNoProgress) {
  Script script{{4096, 512}, {}};
  const Transfer transfer = run(script, 3 * 4096, 4096);
  EXPECT_EQ(transfer.done_bytes, 4096U);
  EXPECT_EQ(transfer.error, 0);
  EXPECT_EQ(script.asked_at.size(), 2U);
}

TEST(PosixTransfer, RetryAnswersWhatTheCallAnsweredLast) {
  int calls = 0;
  const int result = retry_interrupted([&] {
    errno = EINTR;
    return ++calls < 5 ? -1 : 17;
  });
  EXPECT_EQ(result, 17);
  EXPECT_EQ(calls, 5);
}

}  // namespace
}  // namespace varve::io::posix_transfer_test
