// Goal: a compaction that a caller waits for takes in everything that happened before the call, and callers beside each
// other all return.
// Method: all threads run one at a time, by seed, so that a call meets every moment of a round that is under way.
#include <gtest/gtest.h>

#include "engine/load/load.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::compact_wait_test {
namespace {

using test::Change;
using test::Machine;

constexpr format::TableId kLoaded = format::make_table_id(7, 40);

class CompactWait : public testing::TestWithParam<std::uint64_t> {
 protected:
  CompactWait() {
    auto opened = machine_.open();
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  /// Returns a load of one entry that is installed and not adopted.
  std::unique_ptr<Load> installed_load() {
    auto load = engine_->begin_load(LoadOptions());
    EXPECT_TRUE(load.ok());
    const auto version = Change().put("catalog", "counter", "next").commit(*engine_);
    EXPECT_TRUE(version.ok());
    (*load)->begin(kLoaded, *version);
    EXPECT_TRUE((*load)->add(test::key_of("p", "r", kLoaded), "loaded").ok());
    EXPECT_TRUE((*load)->install().ok());
    return *std::move(load);
  }
  bool has_loaded_entry() const { return (*engine_->view().get(test::key_of("p", "r", kLoaded))).has_value(); }

  Machine machine_{GetParam(), test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_;
};

TEST_P(CompactWait, TakesInWhatEndedJustBeforeTheCall) {
  SCOPED_TRACE(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::unique_ptr<Load> load = installed_load();
    ASSERT_TRUE(engine_->compact().ok());
    ASSERT_TRUE(has_loaded_entry());
    load.reset();
    ASSERT_TRUE(engine_->compact().ok());
    ASSERT_FALSE(has_loaded_entry()) << "round " << round;
  }
}

TEST_P(CompactWait, AllOfSeveralCallersReturn) {
  SCOPED_TRACE(GetParam());
  {
    const auto compact_often = [this] {
      for (int round = 0; round < 10; ++round) EXPECT_TRUE(engine_->compact().ok());
    };
    auto first = machine_.scheduler().start("first", compact_often);
    auto second = machine_.scheduler().start("second", compact_often);
    auto third = machine_.scheduler().start("third", compact_often);
    ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  }
  EXPECT_TRUE(engine_->close().ok());
}

INSTANTIATE_TEST_SUITE_P(Seeds, CompactWait, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(300)));

}  // namespace
}  // namespace varve::engine::compact_wait_test
