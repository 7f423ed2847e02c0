// Goal: a store whose owner died does not open with fewer commits than it acknowledged because the cluster lost an object.
// Method: one short life of a store over a model of RADOS ends by a cut. Each of its objects in turn is lost before the next
// owner comes.
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::rados_lost_object_test {
namespace {

using io::is_ok;
using test::Change;
using test::RadosMachine;
using test::RadosProgram;

constexpr int kRows = 6;

io::RadosOptions without_wait() {
  io::RadosOptions options;
  options.takeover_wait = false;
  options.renewal_time = std::chrono::hours(1);
  return options;
}

/// Writes rows into a table file and into the log, and dies. Returns the objects of files.
std::vector<std::string> live_and_die(RadosMachine& machine) {
  RadosProgram& program = machine.start(without_wait());
  auto engine = Engine::open(machine.env_of(program), test::kRadosPath, test::Machine::writable());
  EXPECT_TRUE(is_ok(engine.status()));
  if (!engine.ok()) return {};
  for (int row = 0; row < kRows; ++row) {
    EXPECT_TRUE(is_ok(Change().put("p", std::to_string(row), "value").commit(**engine)));
    if (row == kRows / 2) {
      EXPECT_TRUE(is_ok((*engine)->flush()));
    }
  }
  machine.cluster.cut_off(program.door->client(), 0, 0);
  std::vector<std::string> objects;
  for (const std::string& object : machine.cluster.names()) {
    if (!object.ends_with("/root") && !object.ends_with("/lease")) objects.push_back(object);
  }
  return objects;
}

void lose(RadosMachine& machine, const std::string& object) {
  io::ObjectChange removal;
  removal.object = object;
  removal.epoch = 1000;
  removal.removes = true;
  EXPECT_EQ(machine.cluster.make_door()->change(removal), 0);
}

TEST(RadosLostObject, IsNamedByTheOpenOrByTheReadAndNoCommitIsMissedSilently) {
  std::size_t refused = 0;
  std::size_t objects = 1;
  for (std::size_t which = 0; which < objects; ++which) {
    RadosMachine machine(1);
    const std::vector<std::string> names = live_and_die(machine);
    objects = names.size();
    ASSERT_GE(objects, 4U) << "CURRENT, a manifest, a log segment, a table file";
    SCOPED_TRACE(names[which]);
    lose(machine, names[which]);

    RadosProgram& program = machine.start(without_wait());
    auto engine = Engine::open(machine.env_of(program), test::kRadosPath, test::Machine::writable());
    if (!engine.ok()) {
      ++refused;
      EXPECT_EQ(engine.status().code(), Code::kCorruption);
      // A look for CURRENT before the takeover cannot know why its object is missing.
      const std::string why = engine.status().to_string();
      const bool is_named = why.find(names[which]) != std::string::npos;
      EXPECT_TRUE(is_named || why.find("CURRENT is missing") != std::string::npos) << why;
      continue;
    }
    for (int row = 0; row < kRows; ++row) {
      const std::string found = test::value_of(**engine, "p", std::to_string(row));
      const bool is_named = found.find(names[which]) != std::string::npos;
      EXPECT_TRUE(found == "value" || is_named) << "row " << row << ": " << found;
    }
  }
  EXPECT_GE(refused, 3U) << "without CURRENT, the manifest or the log nothing opens";
}

}  // namespace
}  // namespace varve::engine::rados_lost_object_test
