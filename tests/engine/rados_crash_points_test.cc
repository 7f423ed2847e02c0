// Goal: an owner may die after any change of any object. Its successor has each acknowledged commit, and of the last one
// all or nothing.
// Method: one short life of a store over a model of RADOS is cut off after each of its changes in turn. The next change
// arrives late or never.
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::rados_crash_points_test {
namespace {

using test::Change;
using test::RadosMachine;
using test::RadosProgram;

io::RadosOptions without_wait() {
  io::RadosOptions options;
  options.takeover_wait = false;
  options.renewal_time = std::chrono::hours(1);
  return options;
}

/// The values of the rows "0", "1", ... that were acknowledged, and the row whose commit has an unknown end.
struct Ledger {
  std::map<std::string, std::string> acknowledged;
  std::string unknown;
};

/// Opens, commits, flushes, closes and opens again, as far as the cluster answers.
void live(RadosMachine& machine, RadosProgram& program, Ledger& ledger) {
  for (int opening = 0; opening < 2; ++opening) {
    auto engine = Engine::open(machine.env_of(program), test::kRadosPath, test::Machine::writable());
    if (!engine.ok()) return;
    for (int i = 0; i < 4; ++i) {
      const std::string row = std::to_string(opening * 4 + i);
      const std::string value(i == 2 ? 30'000 : 100, static_cast<char>('a' + i));
      ledger.unknown = row;
      if (!Change().put("p", row, value).commit(**engine).ok()) return;
      ledger.acknowledged[row] = value;
      ledger.unknown.clear();
      if (i == 1 && !(*engine)->flush().ok()) return;
    }
    if (!(*engine)->close().ok()) return;
  }
}

class RadosCrashPoints : public testing::TestWithParam<bool> {};

TEST_P(RadosCrashPoints, ASuccessorHasEachAcknowledgedCommit) {
  bool was_cut = true;
  for (std::uint64_t changes = 0; was_cut; changes += test::kStride) {
    SCOPED_TRACE(changes);
    RadosMachine machine(changes + 1);
    machine.cluster.hold_blocklists();
    RadosProgram& first = machine.start(without_wait());
    machine.cluster.cut_off(first.door->client(), changes, GetParam() ? 1 : 0);
    Ledger ledger;
    live(machine, first, ledger);
    was_cut = !ledger.unknown.empty() || ledger.acknowledged.size() < 8;
    (void)machine.cluster.deliver(first.door->client(), 1);

    RadosProgram& second = machine.start(without_wait());
    auto engine = Engine::open(machine.env_of(second), test::kRadosPath, test::Machine::writable());
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    EXPECT_EQ(machine.strays(), std::vector<std::string>());
    for (int i = 0; i < 8; ++i) {
      const std::string row = std::to_string(i);
      const std::string found = test::value_of(**engine, "p", row);
      const auto expected = ledger.acknowledged.find(row);
      if (expected != ledger.acknowledged.end()) {
        EXPECT_TRUE(found == expected->second) << "row " << row << " was acknowledged";
      } else if (row != ledger.unknown) {
        EXPECT_EQ(found, "-") << "row " << row << " was not written";
      }
    }
    ASSERT_TRUE(Change().put("p", "new", "1").commit(**engine).ok());
    ASSERT_EQ((*engine)->close().to_string(), "Ok");
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(NextChange, RadosCrashPoints, testing::Values(false, true),
                         [](const testing::TestParamInfo<bool>& tested) { return tested.param ? "Late" : "Never"; });

}  // namespace
}  // namespace varve::engine::rados_crash_points_test
