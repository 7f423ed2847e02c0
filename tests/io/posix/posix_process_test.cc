#include "io/posix/posix_process.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/child_process.h"

namespace varve::io::posix_process_test {
namespace {

class ForkDetectorByMethod : public testing::TestWithParam<ForkDetector::Method> {
 protected:
  ForkDetector detector_{GetParam()};
};

TEST_P(ForkDetectorByMethod, NumberStaysTheSameInOneProcess) {
  const std::uint64_t number = detector_.process_number();
  EXPECT_NE(number, 0U);
  EXPECT_EQ(detector_.process_number(), number);
}

TEST_P(ForkDetectorByMethod, NumberDiffersFromThatOfEveryAncestor) {
  const std::uint64_t mine = detector_.process_number();
  const std::string answer = in_child([&] {
    const std::uint64_t child = detector_.process_number();
    const std::string grandchild = in_child([&] { return std::to_string(detector_.process_number()); });
    const bool differ = child != mine && grandchild != std::to_string(mine) && grandchild != std::to_string(child);
    return std::string(differ && detector_.process_number() == child ? "different" : "the same");
  });
  EXPECT_EQ(answer, "different");
  EXPECT_EQ(detector_.process_number(), mine);
}

TEST_P(ForkDetectorByMethod, AForkThatAsksLateIsFoundAllTheSame) {
  // The parent has not asked before the fork either: an inherited zero must not become the parent's number.
  const std::string child = in_child([&] { return std::to_string(detector_.process_number()); });
  const std::uint64_t mine = detector_.process_number();
  const std::string later = in_child([&] { return std::to_string(detector_.process_number()); });
  EXPECT_NE(later, std::to_string(mine));
  EXPECT_NE(child, "0");
}

TEST_P(ForkDetectorByMethod, ThreadsThatAskFirstTogetherAgree) {
  std::vector<std::uint64_t> numbers(4);
  std::vector<std::thread> threads;
  for (std::uint64_t& number : numbers) threads.emplace_back([&] { number = detector_.process_number(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t number : numbers) EXPECT_EQ(number, detector_.process_number());
}

INSTANTIATE_TEST_SUITE_P(Both, ForkDetectorByMethod,
                         testing::Values(ForkDetector::Method::kWipedPage, ForkDetector::Method::kProcessId),
                         [](const auto& each) {
                           return each.param == ForkDetector::Method::kWipedPage ? "WipedPage" : "ProcessId";
                         });

TEST(ForkDetector, TellsWhichMethodItUses) {
  EXPECT_EQ(ForkDetector(ForkDetector::Method::kProcessId).method(), ForkDetector::Method::kProcessId);
  EXPECT_EQ(ForkDetector(ForkDetector::Method::kWipedPage).method(), ForkDetector::Method::kWipedPage);
}

TEST(OwnerProcess, IsThisProcessAndNoForkOfIt) {
  const OwnerProcess owner = OwnerProcess::current();
  EXPECT_TRUE(owner.is_this_process());
  EXPECT_EQ(in_child([&] { return std::string(owner.is_this_process() ? "owner" : "fork"); }), "fork");
  EXPECT_EQ(in_child([&] { return std::string(OwnerProcess::current().is_this_process() ? "owner" : "fork"); }),
            "owner");
}

}  // namespace
}  // namespace varve::io::posix_process_test
