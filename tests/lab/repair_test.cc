// Goal: a repair saves the data that verifies, reports the rest, and never invents data.
// Method: small stores with every kind of data, and a history of every commit. Each store is damaged in every single
// way, and several times in random ways. The result of the repair is checked row by row.
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "tests/lab/repair/repair_suite.h"
#include "tests/support/effort.h"

namespace varve::lab::repair_test {
namespace {

void expect_none(const Report& report) {
  for (const auto& [name, number] : report.counts) {
    std::printf("  %-32s %llu\n", name.c_str(), static_cast<unsigned long long>(number));
  }
  std::size_t shown = 0;
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << "seed " << finding.seed << ": " << finding.what << "\n" << finding.detail;
    if (++shown == 10) break;
  }
}

TEST(RepairSweep, EverySingleDamageIsSurvivedAndTold) {
  const Report report = sweep_repairs(1, 241 * test::kStride);
  expect_none(report);
  const auto count = [&](const std::string& name) { return report.counts.at(name); };
  EXPECT_GT(count("repairs"), test::effort<std::uint64_t>(1'200));
  EXPECT_GT(count("with losses"), test::effort<std::uint64_t>(600));
  EXPECT_GT(count("rows lost"), 0u);
  EXPECT_GT(count("rows stale"), 0u);
  EXPECT_GT(count("tables renamed"), 0u);
  // Information that only one file contains is not needed to read the rest.
  EXPECT_EQ(count("certain though damaged CURRENT"), count("damaged CURRENT"));
  EXPECT_EQ(count("exact though damaged MANIFEST"), count("damaged MANIFEST"));
  EXPECT_EQ(count("with files in doubt"), count("damaged MANIFEST"));
  EXPECT_GT(count("exact though damaged sst"), count("damaged sst") / 10);
}

TEST(RepairRandom, RandomDamageIsSurvivedAndTold) {
  const Report report = run_repair({1, 4});
  expect_none(report);
  EXPECT_EQ(report.counts.at("repairs"), 4 * 41u);
  EXPECT_GT(report.counts.at("rows lost"), 0u);
  EXPECT_GT(report.counts.at("rows stale"), 0u);
}

}  // namespace
}  // namespace varve::lab::repair_test
