// Goal: an engine needs no more of a file system than a store of objects has: no shared memory, no links, bytes that are
// seen only after their sync, and removed files that are gone at once.
// Method: a run by seed writes, removes, flushes, compacts, copies and reopens. A map has what must be found.
#include <map>
#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::object_rules_run_test {
namespace {

using test::Change;
using test::Machine;
using Rows = std::map<std::string, std::string>;

Rows rows_of(const Engine& engine) {
  Rows rows;
  const ReadView view = engine.view();
  Cursor cursor = view.cursor("", "");
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    rows[std::string(cursor.key())] = std::string(cursor.value());
  }
  EXPECT_EQ(cursor.status().to_string(), "Ok");
  return rows;
}

class ObjectRulesRun : public testing::TestWithParam<std::uint64_t> {
 protected:
  ObjectRulesRun() : random_(GetParam()) {
    machine_.files->keep_object_rules();
    machine_.files->keep_no_samples();
  }

  void open() {
    auto engine = machine_.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    engine_ = *std::move(engine);
  }

  void write() {
    const std::string row = std::to_string(random_() % 40);
    if (random_() % 5 == 0) {
      ASSERT_EQ(Change().remove("p", row).commit(*engine_).status().to_string(), "Ok");
      expected_.erase(test::key_of("p", row));
      return;
    }
    // A value above 16 KiB stays in the log.
    std::string value(random_() % 8 == 0 ? 30'000 : 300, '\0');
    for (char& c : value) c = static_cast<char>('a' + random_() % 26);
    Change change;
    change.put("p", row, value);
    if (random_() % 2 == 0) change.buffered();
    ASSERT_EQ(change.commit(*engine_).status().to_string(), "Ok");
    expected_[test::key_of("p", row)] = value;
  }

  Machine machine_;
  std::mt19937_64 random_;
  std::unique_ptr<Engine> engine_;
  Rows expected_;
};

TEST_P(ObjectRulesRun, FindsWhatWasWritten) {
  open();
  for (int step = 0; step < test::effort(250) && !HasFatalFailure(); ++step) {
    switch (random_() % 24) {
      case 0: ASSERT_EQ(engine_->flush().to_string(), "Ok"); break;
      case 1: ASSERT_EQ(engine_->compact().to_string(), "Ok"); break;
      case 2:
        ASSERT_EQ(engine_->close().to_string(), "Ok");
        engine_.reset();
        open();
        break;
      case 3:
        engine_.reset();
        open();
        break;
      default: write();
    }
  }
  EXPECT_EQ(rows_of(*engine_), expected_);
  ASSERT_TRUE(engine_->checkpoint("/copy").ok());
  auto copy = Engine::open(machine_.env(), "/copy", Machine::writable());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  EXPECT_EQ(rows_of(**copy), expected_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ObjectRulesRun, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::engine::object_rules_run_test
