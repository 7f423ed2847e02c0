// Goal: a process that dies while it creates or opens a store leaves files that the next process can use. A power cut
// during the work of that process still finds a store.
// Method: the first process is killed at every step, and the second is crashed at every one of its steps.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::establish_twice_test {
namespace {

using test::Change;
using test::Machine;

struct Death {
  io::MemoryDisk disk;
  std::string where;
};

/// Returns the disks that a kill at each step of an open leaves.
std::vector<Death> kill_at_each_step(const io::MemoryDisk& disk) {
  std::vector<Death> deaths;
  Machine machine(1, test::OneThreadAtATime{}, disk);
  machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
    if (moment != io::Moment::kAfter) {
      deaths.push_back({machine.files->process_death(machine.random),
                        std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name)});
    }
  });
  auto engine = machine.open();
  machine.files->set_observer({});
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  return deaths;
}

void expect_every_power_cut_leaves_a_store(const Death& death, const std::string& value) {
  SCOPED_TRACE("killed at " + death.where);
  std::vector<Death> cuts;
  Machine machine(2, test::OneThreadAtATime{}, death.disk);
  machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
    if (moment == io::Moment::kBefore) return;
    const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name);
    // The name that the first process left may be lost with all later data, or alone.
    for (const io::CrashPolicy policy : {io::CrashPolicy::kNothingUnsynced, io::CrashPolicy::kDirectoryReversed}) {
      cuts.push_back({machine.files->power_cut(policy, machine.random), where});
    }
  });
  {
    auto engine = machine.open();
    machine.files->set_observer({});
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    ASSERT_EQ(test::value_of(**engine, "p", "r"), value);
  }
  for (const Death& cut : cuts) {
    SCOPED_TRACE("and the power cut at " + cut.where);
    Machine again(3, cut.disk);
    auto engine = again.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    ASSERT_EQ(test::value_of(**engine, "p", "r"), value);
  }
}

TEST(EstablishTwice, AtEveryStepAStoreThatIsBeingMadeOutlivesAKillAndThenAPowerCut) {
  const std::vector<Death> deaths = kill_at_each_step(io::MemoryDisk());
  EXPECT_GT(deaths.size(), 10u);
  for (std::size_t i = 0; i < deaths.size(); i += test::kStride) expect_every_power_cut_leaves_a_store(deaths[i], "-");
}

TEST(EstablishTwice, AtEveryStepAStoreThatIsBeingOpenedOutlivesAKillAndThenAPowerCut) {
  io::MemoryDisk disk;
  {
    Machine machine(4, test::OneThreadAtATime{});
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(Change().put("p", "r", "value").commit(**engine).ok());
    disk = machine.files->process_death(machine.random);
  }
  const std::vector<Death> deaths = kill_at_each_step(disk);
  EXPECT_GT(deaths.size(), 10u);
  for (std::size_t i = 0; i < deaths.size(); i += test::kStride) {
    expect_every_power_cut_leaves_a_store(deaths[i], "value");
  }
}

}  // namespace
}  // namespace varve::engine::establish_twice_test
