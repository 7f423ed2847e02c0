// Goal: an owner that may have lost its store answers nothing from memory (S8): no read, no refusal, no buffered commit.
// Method: two processes share a model of RADOS. The first one is cut off and returns after the second one has taken over,
// or its lease is not renewed in time. Threads and time follow a seed.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/read/cursor.h"
#include "io/rados/watched_door.h"
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

TEST_P(LostOwnership, TheFiguresSayThatBufferedCommitsDieWithTheProcess) {
  const std::unique_ptr<Engine> engine = open(machine_.start());
  ASSERT_NE(engine, nullptr);
  EXPECT_TRUE(engine->statistics().buffered_dies_with_process);
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

/// A clock whose time for leases does not go on, as that of a virtual machine that was paused.
class StandingClock final : public io::Clock {
 public:
  explicit StandingClock(io::Clock& real) noexcept : real_(real), standing_(real.monotonic()) {}
  io::Ticks wall() noexcept override { return real_.wall(); }
  std::chrono::nanoseconds monotonic() noexcept override { return real_.monotonic(); }
  std::chrono::nanoseconds since_boot() noexcept override { return standing_; }

 private:
  io::Clock& real_;
  const std::chrono::nanoseconds standing_;
};

class VerifiedReads : public LostOwnership {
 protected:
  /// Makes a process that is about to be paused: its clock stops, and it renews nothing.
  void start_paused(bool verified) {
    io::RadosOptions options;
    options.renewal_time = std::chrono::hours(1);
    options.verified_reads = verified;
    files_ = std::make_unique<io::RadosFileSystem>("pool", watched_, standing_, machine_.random, machine_.scheduler(),
                                                   options);
  }
  std::unique_ptr<Engine> open_paused() {
    const io::Env env{*files_, machine_.clock, machine_.random, machine_.scheduler()};
    auto opened = Engine::open(env, test::kRadosPath, test::Machine::writable());
    EXPECT_TRUE(is_ok(opened.status()));
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  std::uint64_t questions() { return watched_.reads().answered; }

  StandingClock standing_{machine_.clock};
  const std::unique_ptr<io::ObjectDoor> door_ = machine_.cluster.make_door();
  io::WatchedDoor watched_{*door_, machine_.clock};
  std::unique_ptr<io::RadosFileSystem> files_;
};

// The clocks' rate is all that fresh reads rest on. This is the price where a clock stops.
TEST_P(VerifiedReads, WithoutThemAnOwnerWhoseClockStandsAnswersAfterATakeover) {
  machine_.cluster.hold_blocklists();
  start_paused(false);
  const std::unique_ptr<Engine> former = open_paused();
  ASSERT_NE(former, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "old").commit(*former)));
  const std::unique_ptr<Engine> owner = open(machine_.start());
  ASSERT_NE(owner, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "new").commit(*owner)));
  EXPECT_EQ(value_of(*former, "p", "r"), "old");
  // The cluster refuses its write. The log alone cannot say that nothing of it survives.
  EXPECT_TRUE(fails_with(Change().put("p", "s", "x").commit(*former), Code::kUnknown));
}

TEST_P(VerifiedReads, AnOwnerWhoseClockStandsAnswersNothingAfterATakeover) {
  machine_.cluster.hold_blocklists();
  start_paused(true);
  const std::unique_ptr<Engine> former = open_paused();
  ASSERT_NE(former, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "old").commit(*former)));
  ASSERT_EQ(value_of(*former, "p", "r"), "old");
  const ReadView confirmed = former->view();
  ASSERT_TRUE(is_ok(confirmed.get(key_of("p", "r")).status()));
  const std::unique_ptr<Engine> owner = open(machine_.start());
  ASSERT_NE(owner, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "new").commit(*owner)));
  // A view from before the takeover still shows the state of that time.
  const auto shown = confirmed.get(key_of("p", "r"));
  ASSERT_TRUE(is_ok(shown.status()));
  EXPECT_EQ((**shown).value, "old");
  expect_no_answer(*former, Code::kFenced);
  EXPECT_EQ(value_of(*owner, "p", "r"), "new");
}

TEST_P(VerifiedReads, AskOnceForAllReadsOfAView) {
  start_paused(true);
  const std::unique_ptr<Engine> engine = open_paused();
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "a").commit(*engine)));
  const std::string key = key_of("p", "r");
  const std::string_view keys[] = {key, key};
  const ReadView view = engine->view();
  const std::uint64_t before = questions();
  EXPECT_TRUE(is_ok(view.get(key).status()));
  EXPECT_EQ(questions(), before + 1);
  EXPECT_TRUE(is_ok(view.get_many(keys).status()));
  Cursor cursor = view.cursor("", "");
  cursor.seek_to_first();
  EXPECT_TRUE(cursor.valid());
  EXPECT_EQ(questions(), before + 1);
  EXPECT_EQ(value_of(*engine, "p", "r"), "a");  // at another view
  EXPECT_EQ(questions(), before + 2);
  ASSERT_TRUE(is_ok(Change().put("p", "s", "b").buffered().commit(*engine)));
  EXPECT_EQ(questions(), before + 2) << "a commit reads nothing";
}

TEST_P(VerifiedReads, EndInTimeWhileTheRootHangs) {
  start_paused(true);
  const std::unique_ptr<Engine> engine = open_paused();
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "a").commit(*engine)));
  files_->process().set_read_patience(milliseconds(5000));
  machine_.cluster.stand_still(io::root_object(test::kStoreName));
  expect_no_answer(*engine, Code::kBusy);
  machine_.cluster.go_on();
  EXPECT_EQ(value_of(*engine, "p", "r"), "a");
}

// With it, no wait is needed: the former owner finds out by itself.
TEST_P(VerifiedReads, NeedNoWaitOfTheNextOwner) {
  machine_.cluster.hold_blocklists();
  start_paused(true);
  const std::unique_ptr<Engine> former = open_paused();
  ASSERT_NE(former, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "old").commit(*former)));
  io::RadosOptions hasty;
  hasty.takeover_wait = false;
  hasty.verified_reads = true;
  const std::unique_ptr<Engine> owner = open(machine_.start(hasty));
  ASSERT_NE(owner, nullptr);
  expect_no_answer(*former, Code::kFenced);
  const std::unique_ptr<Engine> last = open(machine_.start(hasty));
  ASSERT_NE(last, nullptr);
  expect_no_answer(*owner, Code::kFenced);
}

INSTANTIATE_TEST_SUITE_P(Seeds, VerifiedReads, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::engine::lost_ownership_test
