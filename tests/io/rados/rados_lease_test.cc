// Goal: a new owner leaves a living one alone, and answers nothing before a dead one's lease has lapsed.
// Method: processes share a model of RADOS. Threads and time follow a seed.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_lease_test {
namespace {

using std::chrono::milliseconds;
using test::RadosMachine;
using test::RadosProgram;

constexpr milliseconds kLapse{2200};

class RadosLease : public testing::TestWithParam<std::uint64_t> {
 protected:
  RadosLease() : machine_(GetParam()) {}

  std::unique_ptr<Directory> open(RadosProgram& program) {
    EXPECT_TRUE(is_ok(program.files->create_directory(test::kRadosPath, {"test"})));
    Result<std::unique_ptr<Directory>> directory = program.files->open_directory(test::kRadosPath);
    EXPECT_TRUE(is_ok(directory));
    return *std::move(directory);
  }
  static Result<std::unique_ptr<DirectoryLock>> lock(Directory& directory) {
    return directory.lock("LOCK", LockMode::kExclusive, milliseconds(500));
  }
  static std::unique_ptr<DirectoryLock> take(Directory& directory) {
    Result<std::unique_ptr<DirectoryLock>> taken = lock(directory);
    EXPECT_TRUE(is_ok(taken));
    return taken.ok() ? *std::move(taken) : nullptr;
  }
  void let_pass(milliseconds time) {
    Mutex mutex(machine_.scheduler());
    Condition never(machine_.scheduler());
    const auto end = machine_.clock.monotonic() + time;
    const MutexGuard guard(mutex);
    while (machine_.clock.monotonic() < end) (void)never.wait_for(mutex, end - machine_.clock.monotonic());
  }

  RadosMachine machine_;
};

TEST_P(RadosLease, ASecondOpenWhileTheOwnerLivesIsLockedAndTouchesNothing) {
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  ASSERT_TRUE(is_ok(write_whole(*owned, "a", bytes_of("x"))));
  let_pass(milliseconds(5000));
  const std::vector<std::string> objects = machine_.cluster.names();

  RadosProgram& second = machine_.start();
  const std::unique_ptr<Directory> other = open(second);
  EXPECT_TRUE(fails_with(lock(*other), Code::kLocked));
  EXPECT_EQ(machine_.cluster.names(), objects);
  EXPECT_TRUE(is_ok(owned->confirm_owner()));
  EXPECT_TRUE(first.files->process().is_fresh());
  EXPECT_TRUE(is_ok(write_whole(*owned, "b", bytes_of("y"))));
}

TEST_P(RadosLease, AnotherHandleOfTheSameProcessIsLocked) {
  RadosProgram& program = machine_.start();
  const std::unique_ptr<Directory> owned = open(program);
  std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  const std::unique_ptr<Directory> other = open(program);
  EXPECT_TRUE(fails_with(lock(*other), Code::kLocked));
  owner.reset();
  EXPECT_TRUE(is_ok(lock(*other)));
}

TEST_P(RadosLease, AnotherHandleIsLockedInTimeWhileOtherStoresOfTheProcessComeAndGo) {
  constexpr const char* kOtherPath = "rados:pool/other";
  RadosProgram& program = machine_.start();
  const std::unique_ptr<Directory> owned = open(program);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  ASSERT_TRUE(is_ok(program.files->create_directory(kOtherPath, {"test"})));
  const std::unique_ptr<Directory> busy = *program.files->open_directory(kOtherPath);
  const Thread comer = *machine_.scheduler().start("comer", [&] {
    for (int turn = 0; turn < 20; ++turn) {
      EXPECT_NE(take(*busy), nullptr);  // and lets go
      let_pass(milliseconds(100));
    }
  });
  const std::unique_ptr<Directory> other = open(program);
  const auto began = machine_.clock.monotonic();
  EXPECT_TRUE(fails_with(lock(*other), Code::kLocked));
  EXPECT_LT(machine_.clock.monotonic() - began, milliseconds(1000));
}

TEST_P(RadosLease, ACleanEndNeedsNoWait) {
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  ASSERT_NE(take(*owned), nullptr);  // and lets go
  RadosProgram& second = machine_.start();
  const std::unique_ptr<Directory> other = open(second);
  const auto began = machine_.clock.monotonic();
  EXPECT_NE(take(*other), nullptr);
  EXPECT_LT(machine_.clock.monotonic() - began, milliseconds(2000));
  EXPECT_FALSE(first.files->process().is_fenced());
}

TEST_P(RadosLease, ADeadOwnerIsReplacedWhenItsLeaseHasLapsed) {
  machine_.cluster.hold_blocklists();
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  machine_.cluster.cut_off(first.door->client(), 0, 0);
  RadosProgram& second = machine_.start();
  const std::unique_ptr<Directory> other = open(second);
  const auto began = machine_.clock.monotonic();
  const std::unique_ptr<DirectoryLock> successor = take(*other);
  ASSERT_NE(successor, nullptr);
  EXPECT_GE(machine_.clock.monotonic() - began, kLapse);
  EXPECT_FALSE(first.files->process().is_fresh()) << "two owners could answer from memory";
  EXPECT_GT(successor->epoch(), owner->epoch());
}

// A disk past its last reserve keeps the lease from being made, for ten seconds.
TEST_P(RadosLease, FiguresDoNotWaitForALeaseThatIsBeingMade) {
  RadosProgram& program = machine_.start();
  const std::unique_ptr<Directory> directory = open(program);
  machine_.cluster.fill_reserve([](std::string_view object) { return object.ends_with("/lease"); });
  Status taken;
  Thread opener = *machine_.scheduler().start("opener", [&] { taken = lock(*directory).status(); });
  let_pass(milliseconds(1000));
  const auto began = machine_.clock.monotonic();
  EXPECT_EQ(program.files->process().figures().ownerships, 0U);
  EXPECT_LT(machine_.clock.monotonic() - began, milliseconds(1000));
  opener = Thread();
  EXPECT_TRUE(fails_with(taken, Code::kNoSpace));
  machine_.cluster.set_full(false);
  EXPECT_NE(take(*directory), nullptr);
}

// The wait is there for this: without it, a former owner that knows nothing still answers.
TEST_P(RadosLease, WithoutTheWaitAFormerOwnerIsStillFresh) {
  machine_.cluster.hold_blocklists();
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  first.files->process().renew();
  machine_.cluster.cut_off(first.door->client(), 0, 0);
  RadosOptions options;
  options.takeover_wait = false;
  RadosProgram& second = machine_.start(options);
  const std::unique_ptr<Directory> other = open(second);
  ASSERT_NE(take(*other), nullptr);
  EXPECT_TRUE(first.files->process().is_fresh());
}

// What holds of S8 with clocks of different rates: a tenth is allowed for.
TEST_P(RadosLease, AnOwnerWhoseClockIsSlowerByATenthAnswersNothingBesideItsSuccessor) {
  machine_.cluster.hold_blocklists();
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  first.lease_clock->set_rate(10, 11);  // Eleven seconds pass for the successor while ten pass here.
  first.files->process().renew();
  machine_.cluster.cut_off(first.door->client(), 0, 0);
  const std::unique_ptr<Directory> other = open(machine_.start());
  ASSERT_NE(take(*other), nullptr);
  EXPECT_FALSE(first.files->process().is_fresh());
}

// What does not hold: an owner whose clock has stopped may answer reads from memory beside its successor, until it hears from
// the cluster. What holds all the same: it changes nothing, and learns of the fence.
TEST_P(RadosLease, AnOwnerWhoseClockStopsStaysFreshAndChangesNothing) {
  machine_.cluster.hold_blocklists();
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  ASSERT_TRUE(is_ok(write_whole(*owned, "a", bytes_of("x"))));
  first.files->process().renew();
  first.lease_clock->set_rate(0, 1);
  machine_.cluster.lose(first.door->client(), ObjectCluster::Loss::kRequests);
  const std::unique_ptr<Directory> other = open(machine_.start());
  const std::unique_ptr<DirectoryLock> successor = take(*other);
  ASSERT_NE(successor, nullptr);
  ASSERT_TRUE(is_ok(other->remove("a")));
  EXPECT_TRUE(first.files->process().is_fresh()) << "its reads may be old";

  machine_.cluster.reconnect(first.door->client());
  EXPECT_TRUE(fails_with(write_whole(*owned, "b", bytes_of("y")), Code::kFenced));
  EXPECT_TRUE(fails_with(owned->remove("a"), Code::kFenced));
  let_pass(milliseconds(1000));
  EXPECT_TRUE(first.files->process().is_fenced()) << "the renewal that was on its way has told it";
  EXPECT_FALSE(first.files->process().is_fresh());
  EXPECT_EQ(names_in(*other), std::vector<std::string>());
}

// An owner that hears nothing answers nothing once its lease is over. Its successor waits that long and no longer: at most
// one renewal is on its way.
TEST_P(RadosLease, AnOwnerWhoseAnswersAreLostIsReplacedAndAnswersNothing) {
  machine_.cluster.hold_blocklists();
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  machine_.cluster.lose(first.door->client(), ObjectCluster::Loss::kAnswers);
  let_pass(milliseconds(700));
  const std::unique_ptr<Directory> other = open(machine_.start());
  const auto began = machine_.clock.monotonic();
  const std::unique_ptr<DirectoryLock> successor = take(*other);
  ASSERT_NE(successor, nullptr);
  EXPECT_LT(machine_.clock.monotonic() - began, kLapse + milliseconds(500));
  EXPECT_FALSE(first.files->process().is_fresh());
  machine_.cluster.reconnect(first.door->client());
  let_pass(milliseconds(1000));
  EXPECT_TRUE(first.files->process().is_fenced());
  EXPECT_TRUE(is_ok(successor->check()));
}

TEST_P(RadosLease, AForcedTakeoverEndsTheProcessOfTheFormerOwner) {
  machine_.cluster.hold_blocklists();
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  RadosOptions options;
  options.takeover_wait = false;
  RadosProgram& second = machine_.start(options);
  const std::unique_ptr<Directory> other = open(second);
  std::unique_ptr<DirectoryLock> successor = take(*other);
  ASSERT_NE(successor, nullptr);
  let_pass(milliseconds(600));
  EXPECT_TRUE(first.files->process().is_fenced());
  EXPECT_TRUE(fails_with(owner->check(), Code::kFenced));
  EXPECT_TRUE(is_ok(successor->check()));
  owner.reset();
  successor.reset();
  EXPECT_TRUE(fails_with(lock(*open(first)), Code::kFenced)) << "its lease never begins again";
}

// What a former owner sent may arrive after its successor has removed the file. It must find the sealed object, or be
// refused. Otherwise it makes an object that no entry names.
TEST_P(RadosLease, AFormerOwnersLateChangeMakesNoObjectOfAFileThatWasRemoved) {
  const bool is_blocklist_late = GetParam() % 2 == 0;
  if (is_blocklist_late) machine_.cluster.delay_blocklists();
  RadosOptions options;
  options.takeover_wait = false;
  options.renewal_time = std::chrono::hours(1);
  RadosProgram& first = machine_.start(options);
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  machine_.cluster.cut_off(first.door->client(), 1, 1);
  EXPECT_FALSE(write_whole(*owned, "a", bytes_of("x")).ok()) << "the object is on its way";

  const std::unique_ptr<Directory> other = open(machine_.start(options));
  const std::unique_ptr<DirectoryLock> successor = take(*other);
  ASSERT_NE(successor, nullptr);
  EXPECT_EQ(names_in(*other), std::vector<std::string>{"a"});
  EXPECT_TRUE(is_ok(other->remove("a")));
  EXPECT_EQ(machine_.cluster.deliver(first.door->client(), 1), 0U);
  EXPECT_EQ(machine_.strays(), std::vector<std::string>());
  EXPECT_EQ(names_in(*other), std::vector<std::string>());

  // If the blocklist had no effect yet, the object waits for that.
  const auto is_of_the_file = [](const std::string& object) { return object.ends_with("/1.1.0"); };
  std::vector<std::string> objects = machine_.cluster.names();
  EXPECT_EQ(std::count_if(objects.begin(), objects.end(), is_of_the_file), is_blocklist_late ? 1 : 0);
  machine_.cluster.delay_blocklists(0);
  const std::unique_ptr<Directory> last = open(machine_.start(options));
  ASSERT_NE(take(*last), nullptr);
  objects = machine_.cluster.names();
  EXPECT_EQ(std::count_if(objects.begin(), objects.end(), is_of_the_file), 0);
}

// One of two standbys takes over from the dead owner. The other one takes over from the first when that lets go.
TEST_P(RadosLease, TwoStandbysFollowEachOther) {
  machine_.cluster.hold_blocklists();
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<DirectoryLock> owner = take(*owned);
  ASSERT_NE(owner, nullptr);
  Mutex mutex(machine_.scheduler());
  Condition changed(machine_.scheduler());
  int owners = 0;
  int turns = 0;
  bool may_end = false;
  std::vector<std::uint64_t> epochs;
  RadosOptions options;
  options.owner_wait = std::chrono::hours(1);
  std::vector<RadosProgram*> programs = {&machine_.start(options), &machine_.start(options)};
  std::vector<Thread> standbys;
  for (RadosProgram* const program : programs) {
    standbys.push_back(*machine_.scheduler().start("standby", [&, program] {
      const std::unique_ptr<Directory> directory = open(*program);
      std::unique_ptr<DirectoryLock> taken = take(*directory);
      ASSERT_NE(taken, nullptr);
      const MutexGuard guard(mutex);
      EXPECT_EQ(++owners, 1);
      EXPECT_TRUE(is_ok(taken->check()));
      epochs.push_back(taken->epoch());
      ++turns;
      changed.notify_all();
      while (!may_end) changed.wait(mutex);
      --owners;
      taken.reset();
    }));
  }
  let_pass(milliseconds(5000));
  {
    const MutexGuard guard(mutex);
    EXPECT_EQ(turns, 0) << "the owner lives";
  }
  machine_.cluster.cut_off(first.door->client(), 0, 0);
  let_pass(milliseconds(5000));
  {
    const MutexGuard guard(mutex);
    EXPECT_EQ(turns, 1) << "within 5 s";
    may_end = true;
    changed.notify_all();
  }
  standbys.clear();
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_LT(owner->epoch(), epochs[0]);
  EXPECT_LT(epochs[0], epochs[1]);
}

class AnsweredChange final : public SentChange {
 public:
  explicit AnsweredChange(ObjectAnswer answer) noexcept : answer_(answer) {}
  ObjectAnswer await() noexcept override { return answer_; }

 private:
  const ObjectAnswer answer_;
};

/// The nth operation of this door answers EIO. A change may have been made all the same.
class FailingDoor final : public ObjectDoor {
 public:
  FailingDoor(std::unique_ptr<ObjectDoor> door, bool makes_changes)
      : door_(std::move(door)), makes_changes_(makes_changes) {}
  void fail_at(int operation) noexcept { left_ = operation; }
  bool has_failed() const noexcept { return left_ == 0; }

  std::string client() const override { return door_->client(); }
  ObjectAnswer change(const ObjectChange& change) override {
    if (!fails()) return door_->change(change);
    if (makes_changes_) (void)door_->change(change);
    return EIO;
  }
  /// Waits for the answer at once, so that a failure is counted as one of change().
  std::unique_ptr<SentChange> send(const ObjectChange& sent) override {
    return std::make_unique<AnsweredChange>(change(sent));
  }
  ObjectAnswer look(std::string_view object, ObjectLook& found) override {
    return fails() ? EIO : door_->look(object, found);
  }
  ObjectAnswer entries(std::string_view object, TextMap& found) override {
    return fails() ? EIO : door_->entries(object, found);
  }
  ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                    milliseconds patience) override {
    return fails() ? EIO : door_->read(object, offset, bytes, count, patience);
  }
  ObjectAnswer look_at_pool(std::string_view object, PoolLook& found) override {
    return door_->look_at_pool(object, found);
  }
  ObjectAnswer blocklist(std::string_view client) override { return door_->blocklist(client); }

 private:
  bool fails() noexcept { return left_ > 0 && --left_ == 0; }

  const std::unique_ptr<ObjectDoor> door_;
  const bool makes_changes_;
  int left_ = -1;
};

TEST_P(RadosLease, AProcessWhoseTakeoverFailedKeepsNoLaterOwnerOut) {
  machine_.cluster.hold_blocklists();
  {
    const std::unique_ptr<Directory> made = open(machine_.start());
    ASSERT_NE(take(*made), nullptr);
  }
  RadosOptions options;
  options.renewal_time = std::chrono::hours(1);  // so that no renewal is among the operations
  int failures = 0;
  for (const bool makes_changes : {false, true}) {
    for (int operation = 1;; ++operation) {
      SCOPED_TRACE(operation);
      auto made = std::make_unique<FailingDoor>(machine_.cluster.make_door(), makes_changes);
      FailingDoor& door = *made;
      RadosProgram& failing = machine_.start(options, std::move(made));
      const std::unique_ptr<Directory> directory = open(failing);
      const std::unique_ptr<Directory> other = open(machine_.start());
      door.fail_at(operation);
      Result<std::unique_ptr<DirectoryLock>> taken = lock(*directory);
      const bool has_failed = door.has_failed();
      door.fail_at(0);  // never again
      if (!has_failed) break;
      const auto began = machine_.clock.monotonic();
      if (taken.ok()) {
        (*taken).reset();
      } else {
        ++failures;
      }
      EXPECT_NE(take(*other), nullptr) << "while the process lives";
      EXPECT_LT(machine_.clock.monotonic() - began, milliseconds(500));
      EXPECT_NE(take(*directory), nullptr) << "and that process can take it again";
    }
  }
  EXPECT_GT(failures, 4);
}

/// One owner is cut off, and a second one is while it takes over. Then the first one is back, and a third one comes.
class RadosHalfTakeover : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RadosHalfTakeover, LeavesNoFormerOwnerThatAnswersBesideALaterOne) {
  RadosMachine machine(GetParam() + 1);
  machine.cluster.hold_blocklists();
  const auto open = [&](RadosProgram& program) {
    EXPECT_TRUE(is_ok(program.files->create_directory(test::kRadosPath, {"test"})));
    return *program.files->open_directory(test::kRadosPath);
  };
  const auto lock = [](Directory& directory) {
    return directory.lock("LOCK", LockMode::kExclusive, milliseconds(500));
  };
  RadosProgram& first = machine.start();
  const std::unique_ptr<Directory> owned = open(first);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  machine.cluster.cut_off(first.door->client(), 0, 0);

  RadosProgram& second = machine.start();
  const std::unique_ptr<Directory> wanted = open(second);
  machine.cluster.cut_off(second.door->client(), GetParam(), 0);
  (void)lock(*wanted);
  machine.cluster.reconnect(first.door->client());
  first.files->process().renew();

  const std::unique_ptr<Directory> directory = open(machine.start());
  const auto taken = lock(*directory);
  if (taken.ok()) {
    EXPECT_FALSE(first.files->process().is_fresh()) << "two owners could answer from memory";
  } else {
    EXPECT_TRUE(fails_with(taken, Code::kLocked));
    EXPECT_TRUE(is_ok((*owner)->check()));
  }
}

INSTANTIATE_TEST_SUITE_P(ChangesOfTheSecond, RadosHalfTakeover, testing::Range(std::uint64_t{0}, std::uint64_t{7}));

INSTANTIATE_TEST_SUITE_P(Seeds, RadosLease, testing::Range(std::uint64_t{1}, std::uint64_t{5}));

}  // namespace
}  // namespace varve::io::rados_lease_test
