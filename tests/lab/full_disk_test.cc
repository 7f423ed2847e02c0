// Goal: a store survives a thousand full disks without being reopened, and loses no data.
#include "tests/lab/full_disk/full_disk.h"

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::lab::full_disk_test {
namespace {

TEST(FullDisk, ReadsAndDropsGoOnAndWritesResume) {
  const std::uint64_t cycles = test::effort<std::uint64_t>(125);
  const Report report = run_full_disk(Share{.seed = 1, .rounds = 2, .machine = std::string(kDisk)}, cycles);
  for (const Finding& finding : report.findings) ADD_FAILURE() << "seed " << finding.seed << ": " << finding.what;
  EXPECT_EQ(report.counts.at("cycles"), 2 * cycles);
  EXPECT_EQ(report.counts.at("times full"), 2 * cycles);
  EXPECT_EQ(report.counts.at("drops while full"), 2 * cycles);
  EXPECT_GE(report.counts.at("reads while full"), 20 * cycles);
  EXPECT_GE(report.counts.at("reopened and verified"), 2u);
}

TEST(FullDisk, APoolIsFullAndFreedAgainAndAgain) {
  const std::uint64_t cycles = test::effort<std::uint64_t>(24);
  const Report report = run_full_disk(Share{.seed = 1, .rounds = 1, .machine = std::string(kRados)}, cycles);
  for (const Finding& finding : report.findings) ADD_FAILURE() << "seed " << finding.seed << ": " << finding.what;
  EXPECT_EQ(report.counts.at("rounds on RADOS"), 1u);
  EXPECT_EQ(report.counts.at("times full"), cycles);
  EXPECT_EQ(report.counts.at("drops while full"), cycles);
  EXPECT_EQ(report.counts.at("reopened and verified"), 1u);
  EXPECT_TRUE(report.counts.contains("takeovers while full") || test::kEffortDivisor > 1);
}

class FullDiskSoak : public ::testing::Test {};

TEST_F(FullDiskSoak, AThousandTimes) {
  const Report report = run_full_disk(Share{.seed = 11, .rounds = 4}, 250);
  for (const Finding& finding : report.findings) ADD_FAILURE() << "seed " << finding.seed << ": " << finding.what;
  EXPECT_EQ(report.counts.at("cycles"), 1000u);
}

// The run uses a disk on which room does not return. Space that the store frees is no room there either. Threads run
// one at a time, so whether a last row fits does not depend on their speed.
TEST(FullDisk, ABrokenPromiseIsAFinding) {
  test::Machine machine(1, test::OneThreadAtATime{});
  const io::Env env = machine.env();
  FullDiskWorld world;
  world.path = std::string(test::kStorePath);
  world.env = [&env]() -> const io::Env& { return env; };
  world.leave_room = [&](std::uint64_t bytes) {
    machine.files->set_capacity_bytes(machine.files->used_bytes() + bytes);
  };
  world.give_room = [&] { machine.files->set_capacity_bytes(0); };
  world.pass_time = [] {};
  world.open = [&] {
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &env;
    return Store::open(test::kStorePath, options);
  };
  const std::string broken = FullDiskRun(1, world).run(3);
  EXPECT_NE(broken.find("do not resume"), std::string::npos) << broken;
}

}  // namespace
}  // namespace varve::lab::full_disk_test
