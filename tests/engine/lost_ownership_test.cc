// Goal: an owner that may have lost its store answers nothing from memory (S8): no read, no refusal, no buffered commit.
// Method: two processes share a model of RADOS. The first one is cut off and returns after the second one has taken over,
// or its lease is not renewed in time. Threads and time follow a seed.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/read/cursor.h"
#include "tests/io/io_test_support.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::lost_ownership_test {
namespace {

using io::fails_with;
using io::is_ok;
using std::chrono::milliseconds;
using test::Change;
using test::key_of;
using test::RadosMachine;
using test::RadosProgram;
using test::value_of;

class LostOwnership : public testing::TestWithParam<std::uint64_t> {
 protected:
  LostOwnership() : machine_(GetParam()) {}

  std::unique_ptr<Engine> open(RadosProgram& program) {
    auto opened = Engine::open(machine_.env_of(program), test::kRadosPath, test::Machine::writable());
    EXPECT_TRUE(is_ok(opened.status()));
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  /// A process whose lease is renewed only when the test says so.
  RadosProgram& start_without_renewals() {
    io::RadosOptions options;
    options.renewal_time = std::chrono::hours(1);
    return machine_.start(options);
  }

  /// Asks by every kind of read.
  static void expect_no_answer(const Engine& engine, Code code) {
    const ReadView view = engine.view();
    const std::string key = key_of("p", "r");
    const std::string_view keys[] = {key, key};
    EXPECT_TRUE(fails_with(view.get(key).status(), code));
    EXPECT_TRUE(fails_with(view.get_many(keys).status(), code));
    EXPECT_TRUE(fails_with(view.locate(key).status(), code));
    const HeldVersion held = const_cast<Engine&>(engine).snapshot();
    EXPECT_TRUE(fails_with(engine.view_at(held).get(key).status(), code));
    Cursor cursor = view.cursor("", "");
    cursor.seek_to_first();
    EXPECT_FALSE(cursor.valid());
    EXPECT_TRUE(fails_with(cursor.status(), code));
    cursor.seek_to_last();
    EXPECT_FALSE(cursor.valid());
    cursor.seek_before(key + "z");
    EXPECT_FALSE(cursor.valid());
    EXPECT_TRUE(fails_with(cursor.status(), code));
    // A refusal is an answer too.
    EXPECT_TRUE(fails_with(const_cast<Engine&>(engine).await_published(0), code));
  }

  RadosMachine machine_;
};

TEST_P(LostOwnership, AnOwnerThatWasFrozenAnswersNothingAfterATakeover) {
  machine_.cluster.hold_blocklists();
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Engine> former = open(first);
  ASSERT_NE(former, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "old").commit(*former)));
  ASSERT_EQ(value_of(*former, "p", "r"), "old");
  machine_.cluster.cut_off(first.door->client(), 0, 0);

  RadosProgram& second = machine_.start();
  const std::unique_ptr<Engine> owner = open(second);
  ASSERT_NE(owner, nullptr);
  // The former owner has seen nothing of the takeover, but its clock goes on.
  expect_no_answer(*former, Code::kBusy);
  EXPECT_TRUE(fails_with(Change().put("p", "s", "x").buffered().commit(*former), Code::kBusy));
  ASSERT_TRUE(is_ok(Change().put("p", "r", "new").commit(*owner)));
  EXPECT_EQ(value_of(*owner, "p", "r"), "new");

  machine_.cluster.reconnect(first.door->client());
  first.files->process().renew();
  expect_no_answer(*former, Code::kFenced);
  EXPECT_TRUE(fails_with(Change().put("p", "s", "x").commit(*former), Code::kFenced));
  EXPECT_TRUE(fails_with(Change().put("p", "s", "x").buffered().commit(*former), Code::kFenced));
  EXPECT_TRUE(fails_with(former->flush(), Code::kFenced));
  EXPECT_FALSE(former->close().ok());
  EXPECT_EQ(value_of(*owner, "p", "s"), "-");
  EXPECT_EQ(value_of(*owner, "p", "r"), "new");
  ASSERT_TRUE(is_ok(Change().put("p", "r", "newer").commit(*owner)));
  EXPECT_TRUE(is_ok(owner->close()));
}

TEST_P(LostOwnership, AnOwnerWhoseRenewalIsLateGoesOnWithDurableCommitsAlone) {
  RadosProgram& program = start_without_renewals();
  const std::unique_ptr<Engine> engine = open(program);
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "a").buffered().commit(*engine)));
  machine_.clock.advance(milliseconds(2000));
  expect_no_answer(*engine, Code::kBusy);
  EXPECT_TRUE(fails_with(Change().put("p", "r", "b").buffered().commit(*engine), Code::kBusy));
  EXPECT_TRUE(is_ok(Change().put("p", "r", "c").commit(*engine)));

  program.files->process().renew();
  EXPECT_EQ(value_of(*engine, "p", "r"), "c");
  EXPECT_TRUE(is_ok(Change().put("p", "r", "d").buffered().commit(*engine)));
  EXPECT_EQ(value_of(*engine, "p", "r"), "d");
}

/// Its time for leases jumps when it was asked often enough.
class JumpingClock final : public io::Clock {
 public:
  explicit JumpingClock(io::Clock& real) noexcept : real_(real) {}
  io::Ticks wall() noexcept override { return real_.wall(); }
  std::chrono::nanoseconds monotonic() noexcept override { return real_.monotonic(); }
  std::chrono::nanoseconds since_boot() noexcept override {
    if (calls_left_ > 0 && --calls_left_ == 0) jumped_ = std::chrono::seconds(3);
    return real_.monotonic() + jumped_;
  }
  void jump_at(int call) noexcept { calls_left_ = call; }

 private:
  io::Clock& real_;
  int calls_left_ = 0;
  std::chrono::nanoseconds jumped_{0};
};

TEST_P(LostOwnership, ABufferedCommitWhoseLeaseEndsMeanwhileIsNotAcknowledged) {
  const std::unique_ptr<io::ObjectDoor> door = machine_.cluster.make_door();
  JumpingClock clock(machine_.clock);
  io::RadosOptions options;
  options.renewal_time = std::chrono::hours(1);
  io::RadosFileSystem files("pool", *door, clock, machine_.random, machine_.scheduler(), options);
  const io::Env env{files, machine_.clock, machine_.random, machine_.scheduler()};
  auto opened = Engine::open(env, test::kRadosPath, test::Machine::writable());
  ASSERT_TRUE(is_ok(opened));
  clock.jump_at(2);  // The first look is before the commit begins.
  EXPECT_TRUE(fails_with(Change().put("p", "r", "a").buffered().commit(**opened), Code::kUnknown));
  files.process().renew();
  EXPECT_TRUE(is_ok(Change().put("p", "r", "b").buffered().commit(**opened)));
}

TEST_P(LostOwnership, ACloseEndsTheAnswersBeforeTheNextOwnerBegins) {
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Engine> former = open(first);
  ASSERT_NE(former, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "old").commit(*former)));
  const ReadView view = former->view();
  ASSERT_TRUE(is_ok(former->close()));
  EXPECT_TRUE(fails_with(view.get(key_of("p", "r")).status(), Code::kLocked));
}

INSTANTIATE_TEST_SUITE_P(Seeds, LostOwnership, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::engine::lost_ownership_test
