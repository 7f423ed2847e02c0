// Goal: the lease of a dead owner leaves the pool with the takeover, and that of a living one stays.
// Method: processes share a model of RADOS. Threads and time follow a seed.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/passing_door.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_dead_lease_test {
namespace {

using std::chrono::milliseconds;
using test::RadosMachine;
using test::RadosProgram;

constexpr const char* kOtherPath = "rados:pool/other";

/// A door before whose next removal of a lease something else happens.
class DoorBeforeRemoval final : public test::PassingDoor {
 public:
  using PassingDoor::PassingDoor;
  void before_next_removal(std::function<void()> first) { first_ = std::move(first); }
  ObjectAnswer change(const ObjectChange& change) override {
    if (change.removes && change.object.ends_with("/lease")) {
      if (const std::function<void()> first = std::exchange(first_, nullptr)) first();
    }
    return PassingDoor::change(change);
  }

 private:
  std::function<void()> first_;
};

class RadosDeadLease : public testing::TestWithParam<std::uint64_t> {
 protected:
  RadosDeadLease() : machine_(GetParam()) { machine_.cluster.hold_blocklists(); }

  std::unique_ptr<Directory> open(RadosProgram& program, const char* path = test::kRadosPath) {
    EXPECT_TRUE(is_ok(program.files->create_directory(path, {"test"})));
    Result<std::unique_ptr<Directory>> directory = program.files->open_directory(path);
    EXPECT_TRUE(is_ok(directory));
    return directory.ok() ? *std::move(directory) : nullptr;
  }
  static Result<std::unique_ptr<DirectoryLock>> lock(Directory& directory) {
    return directory.lock("LOCK", LockMode::kExclusive, milliseconds(500));
  }
  void let_pass(milliseconds time) {
    Mutex mutex(machine_.scheduler());
    Condition never(machine_.scheduler());
    const auto end = machine_.clock.monotonic() + time;
    const MutexGuard guard(mutex);
    while (machine_.clock.monotonic() < end) (void)never.wait_for(mutex, end - machine_.clock.monotonic());
  }
  bool has_lease(RadosProgram& program) {
    const std::vector<std::string> names = machine_.cluster.names();
    return std::find(names.begin(), names.end(), lease_object(program.files->process().id())) != names.end();
  }

  RadosMachine machine_;
};

TEST_P(RadosDeadLease, IsRemovedByTheSuccessorAndNeverBeginsAgain) {
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  ASSERT_TRUE(has_lease(first));
  machine_.cluster.cut_off(first.door->client(), 0, 0);
  RadosProgram& second = machine_.start();
  const std::unique_ptr<Directory> other = open(second);
  const auto successor = lock(*other);
  ASSERT_TRUE(is_ok(successor));
  EXPECT_FALSE(has_lease(first));
  EXPECT_TRUE(has_lease(second));

  // It had only hung.
  machine_.cluster.reconnect(first.door->client());
  let_pass(milliseconds(1000));
  EXPECT_TRUE(first.files->process().is_fenced());
  EXPECT_FALSE(has_lease(first));
  EXPECT_TRUE(is_ok((*successor)->check()));
}

TEST_P(RadosDeadLease, IsNotMissedByTheSuccessorOfAnotherStoreOfTheSameProcess) {
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const std::unique_ptr<Directory> owned_too = open(first, kOtherPath);
  const auto owner = lock(*owned);
  const auto owner_too = lock(*owned_too);
  ASSERT_TRUE(is_ok(owner) && is_ok(owner_too));
  machine_.cluster.cut_off(first.door->client(), 0, 0);
  const std::unique_ptr<Directory> other = open(machine_.start());
  const auto successor = lock(*other);
  ASSERT_TRUE(is_ok(successor));
  ASSERT_FALSE(first.files->process().is_fresh());
  const auto began = machine_.clock.monotonic();
  const std::unique_ptr<Directory> other_too = open(machine_.start(), kOtherPath);
  EXPECT_TRUE(is_ok(lock(*other_too)));
  EXPECT_LT(machine_.clock.monotonic() - began, milliseconds(500)) << "it has lapsed";
}

TEST_P(RadosDeadLease, OfAnOwnerThatComesBackInTimeStays) {
  RadosOptions options;
  options.renewal_time = std::chrono::hours(1);  // It hangs.
  RadosProgram& first = machine_.start(options);
  const std::unique_ptr<Directory> owned = open(first);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  auto made = std::make_unique<DoorBeforeRemoval>(machine_.cluster.make_door());
  made->before_next_removal([&] { first.files->process().renew(); });
  RadosProgram& second = machine_.start({}, std::move(made));
  const std::unique_ptr<Directory> other = open(second);
  EXPECT_TRUE(fails_with(lock(*other), Code::kLocked));
  EXPECT_TRUE(has_lease(first));
  EXPECT_TRUE(is_ok((*owner)->check()));
  EXPECT_TRUE(is_ok(write_whole(*owned, "a", bytes_of("x"))));
}

// One that did not wait ends the lease at once. Others that watch it must see it lapse before it goes.
TEST_P(RadosDeadLease, ThatWasEndedAtOnceIsRemovedWhenItHasLapsed) {
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  first.files->process().renew();
  machine_.cluster.cut_off(first.door->client(), 0, 0);
  RadosOptions options;
  options.takeover_wait = false;
  RadosProgram& second = machine_.start(options);
  const std::unique_ptr<Directory> other = open(second);
  const auto successor = lock(*other);
  ASSERT_TRUE(is_ok(successor));
  EXPECT_TRUE(first.files->process().is_fresh());
  let_pass(milliseconds(1500));
  EXPECT_TRUE(has_lease(first));
  let_pass(milliseconds(2500));
  EXPECT_FALSE(has_lease(first));
  EXPECT_FALSE(first.files->process().is_fresh());
  EXPECT_TRUE(second.files->process().is_fresh()) << "its own is renewed";
}

// The renewals of the process go on meanwhile.
TEST_P(RadosDeadLease, WhoseObjectHangsHoldsUpNoRenewal) {
  RadosProgram& first = machine_.start();
  const std::unique_ptr<Directory> owned = open(first);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  machine_.cluster.cut_off(first.door->client(), 0, 0);
  RadosOptions options;
  options.takeover_wait = false;
  RadosProgram& second = machine_.start(options);
  const std::unique_ptr<Directory> other = open(second);
  const auto successor = lock(*other);
  ASSERT_TRUE(is_ok(successor));
  machine_.cluster.stand_still(lease_object(first.files->process().id()));
  let_pass(milliseconds(10'000));
  EXPECT_TRUE(second.files->process().is_fresh());
  EXPECT_TRUE(has_lease(first));
  machine_.cluster.go_on();
  let_pass(milliseconds(1500));
  EXPECT_FALSE(has_lease(first));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RadosDeadLease, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::io::rados_dead_lease_test
