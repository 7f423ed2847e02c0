// Goal: a full pool refuses writes and loses nothing that was acknowledged. Reads, takeovers and drops go on, and a freed
// pool is used again without another open.
// Method: a store over a model of RADOS whose pool becomes full. Threads and time follow a seed.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::full_pool_test {
namespace {

using io::fails_with;
using io::is_ok;
using test::Change;
using test::RadosMachine;
using test::RadosProgram;
using test::value_of;

constexpr int kCommitsMax = 400;

class FullPool : public testing::TestWithParam<std::uint64_t> {
 protected:
  FullPool() : machine_(GetParam()) {}

  std::unique_ptr<Engine> open() {
    io::RadosOptions options;
    options.takeover_wait = false;
    options.renewal_time = std::chrono::hours(1);
    RadosProgram& program = machine_.start(options);
    auto opened = Engine::open(machine_.env_of(program), test::kRadosPath, test::Machine::writable());
    EXPECT_TRUE(is_ok(opened));
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  void expect_refused() {
    io::RadosOptions options;
    options.takeover_wait = false;
    RadosProgram& program = machine_.start(options);
    auto opened = Engine::open(machine_.env_of(program), test::kRadosPath, test::Machine::writable());
    EXPECT_TRUE(fails_with(opened.status(), Code::kNoSpace));
  }

  Status write(Engine& engine) {
    const std::string row = std::to_string(rows_.size());
    const std::string value = row + std::string(60'000, 'x');
    const Status committed = Change().put("p", row, value).commit(engine).status();
    if (committed.ok()) rows_[row] = value;
    return committed;
  }
  Status write_until_refused(Engine& engine) {
    for (int i = 0; i < kCommitsMax; ++i) {
      if (Status written = write(engine); !written.ok()) return written;
    }
    return Status();
  }
  void expect_all(Engine& engine) {
    for (const auto& [row, value] : rows_) EXPECT_TRUE(value_of(engine, "p", row) == value) << row;
  }
  void expect_no_strays() { EXPECT_EQ(machine_.strays(), std::vector<std::string>()); }

  RadosMachine machine_;
  std::map<std::string, std::string> rows_;
};

TEST_P(FullPool, RefusesWritesAnswersReadsAndGoesOnWhenFreed) {
  const std::unique_ptr<Engine> engine = open();
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(is_ok(write(*engine)));
  machine_.cluster.set_full(true);
  ASSERT_TRUE(fails_with(write_until_refused(*engine), Code::kNoSpace));
  EXPECT_GT(rows_.size(), 1u) << "the admitted segment is used to its end";
  EXPECT_EQ(engine->statistics().health, Health::kWritePaused);
  expect_all(*engine);
  expect_no_strays();

  machine_.cluster.set_full(false);
  Status written;
  for (int attempt = 0; attempt < 100; ++attempt) {
    written = write(*engine);
    if (written.ok()) break;
    EXPECT_EQ(written.code(), Code::kNoSpace);
  }
  EXPECT_TRUE(is_ok(written));
  EXPECT_EQ(engine->statistics().health, Health::kHealthy);
  expect_all(*engine);
  EXPECT_TRUE(is_ok(engine->flush()));
  EXPECT_TRUE(is_ok(engine->close()));
  expect_no_strays();
}

TEST_P(FullPool, ANewOwnerTakesOverAndADropFreesSpace) {
  std::unique_ptr<Engine> former = open();
  ASSERT_NE(former, nullptr);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(is_ok(write(*former)));
  ASSERT_TRUE(is_ok(former->flush()));
  machine_.cluster.set_full(true);
  ASSERT_TRUE(fails_with(write_until_refused(*former), Code::kNoSpace));

  const std::unique_ptr<Engine> owner = open();
  ASSERT_NE(owner, nullptr);
  expect_all(*owner);
  const std::size_t objects = machine_.cluster.names().size();
  ASSERT_TRUE(is_ok(Change().retire(test::kTable).commit(*owner)));
  EXPECT_TRUE(is_ok(owner->compact()));
  EXPECT_LT(machine_.cluster.names().size(), objects);
  former.reset();
  EXPECT_TRUE(is_ok(owner->close()));
  expect_no_strays();
}

/// A disk that is full past its last reserve drops what may exceed the limit. What exists there is sealed, read and removed.
TEST_P(FullPool, ATakeoverBesideADiskPastItsReserveWorksWhereNothingMustBeMadeThere) {
  std::unique_ptr<Engine> former = open();
  ASSERT_NE(former, nullptr);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(is_ok(write(*former)));
  ASSERT_TRUE(is_ok(former->flush()));
  const std::vector<std::string> all = machine_.cluster.names();
  const std::set<std::string, std::less<>> there(all.begin(), all.end());
  machine_.cluster.fill_reserve([there](std::string_view object) { return there.contains(object); });

  const std::unique_ptr<Engine> owner = open();
  ASSERT_NE(owner, nullptr);
  expect_all(*owner);
  ASSERT_TRUE(is_ok(Change().retire(test::kTable).commit(*owner)));
  EXPECT_TRUE(is_ok(owner->compact()));
  const std::vector<std::string> left = machine_.cluster.names();
  EXPECT_LT(std::count_if(left.begin(), left.end(), [&](const std::string& name) { return there.contains(name); }),
            static_cast<std::ptrdiff_t>(there.size()));
  EXPECT_EQ(value_of(*owner, "p", "0"), "-");
  EXPECT_TRUE(is_ok(owner->close()));
  former.reset();
  expect_no_strays();
}

TEST_P(FullPool, WhereAllDisksArePastTheirReserveATakeoverIsRefusedAndReadsGoOn) {
  const std::unique_ptr<Engine> former = open();
  ASSERT_NE(former, nullptr);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(is_ok(write(*former)));
  ASSERT_TRUE(is_ok(former->flush()));
  const std::vector<std::string> objects = machine_.cluster.names();
  machine_.cluster.fill_reserve([](std::string_view) { return true; });
  const auto began = machine_.clock.monotonic();
  expect_refused();
  EXPECT_LT(machine_.clock.monotonic() - began, std::chrono::minutes(1));
  EXPECT_EQ(machine_.cluster.names(), objects);
  expect_all(*former);

  machine_.cluster.set_full(false);
  EXPECT_TRUE(is_ok(write(*former))) << "no other owner has come";
  const std::unique_ptr<Engine> owner = open();
  ASSERT_NE(owner, nullptr);
  expect_all(*owner);
}

// The takeover begins, and cannot seal the place of an object that the former owner might still make.
TEST_P(FullPool, ATakeoverThatCannotSealEndsWithNoSpaceAndKeepsNoLaterOwnerOut) {
  const std::unique_ptr<Engine> former = open();
  ASSERT_NE(former, nullptr);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(is_ok(write(*former)));
  machine_.cluster.fill_reserve([](std::string_view object) { return !object.ends_with("/lease"); });
  const auto began = machine_.clock.monotonic();
  expect_refused();
  EXPECT_LT(machine_.clock.monotonic() - began, std::chrono::minutes(1));
  machine_.cluster.set_full(false);
  const std::unique_ptr<Engine> owner = open();
  ASSERT_NE(owner, nullptr);
  expect_all(*owner);
  EXPECT_TRUE(is_ok(owner->close()));
  expect_no_strays();
}

INSTANTIATE_TEST_SUITE_P(Seeds, FullPool, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::engine::full_pool_test
