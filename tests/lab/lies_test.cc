// Goal: a machine that lies (lost and misdirected writes, syncs without effect, wrong bytes) is detected, or only the
// last commits are missing. No answer is ever wrong.
// Method: tests/lab/lies.
#include "tests/lab/lies/lies.h"

#include <gtest/gtest.h>

namespace varve::lab::lies_test {
namespace {

class Lies : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Lies, LeadToNoWrongAnswer) {
  Share share;
  share.seed = GetParam();
  share.rounds = 14;
  const Report report = lies(share);
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << finding.what << "\n" << finding.detail << "\nseed " << finding.seed;
  }
  EXPECT_GE(report.counts.at("lies"), 20u);
  EXPECT_GE(report.counts.at("disks, damage detected"), 20u);
  EXPECT_GE(report.counts.at("disks, all there"), 100u);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Lies, testing::Values(56, 70, 84, 98));

}  // namespace
}  // namespace varve::lab::lies_test
