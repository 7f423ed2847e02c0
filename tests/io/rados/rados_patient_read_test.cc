// Goal: a read with a patience ends within it, whichever of its operations waits.
// Method: an owner over a model of RADOS reads, while single objects hang or reads are slow. Threads and time follow a seed.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/passing_door.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_patient_read_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::RadosMachine;
using test::RadosProgram;

constexpr SyncPoint kPoint{"test"};

void rest(RadosMachine& machine, std::chrono::nanoseconds time) {
  Mutex mutex(machine.scheduler());
  Condition never(machine.scheduler());
  const MutexGuard guard(mutex);
  const auto end = machine.clock.monotonic() + time;
  while (machine.clock.monotonic() < end) (void)never.wait_for(mutex, end - machine.clock.monotonic());
}

/// A door whose reads take two seconds each.
class SlowReads final : public test::PassingDoor {
 public:
  SlowReads(RadosMachine& machine, std::unique_ptr<ObjectDoor> door)
      : PassingDoor(std::move(door)), machine_(machine) {}
  ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                    milliseconds patience) override {
    constexpr milliseconds kTime{2000};
    const bool is_given_up = patience.count() > 0 && patience < kTime;
    rest(machine_, is_given_up ? patience : kTime);
    return is_given_up ? ETIMEDOUT : PassingDoor::read(object, offset, bytes, count, patience);
  }

 private:
  RadosMachine& machine_;
};

class RadosPatientRead : public testing::TestWithParam<std::uint64_t> {
 protected:
  RadosPatientRead() : machine_(GetParam()) {}

  std::unique_ptr<Directory> open(RadosProgram& program) {
    EXPECT_TRUE(is_ok(program.files->create_directory(test::kRadosPath, kPoint)));
    Result<std::unique_ptr<Directory>> directory = program.files->open_directory(test::kRadosPath);
    EXPECT_TRUE(is_ok(directory));
    return directory.ok() ? *std::move(directory) : nullptr;
  }
  static Result<std::unique_ptr<DirectoryLock>> lock(Directory& directory) {
    return directory.lock("LOCK", LockMode::kExclusive, milliseconds(500));
  }
  /// Ends each wait after a minute, so that a read without an end fails its test and does not hang it.
  Thread begin_rescue() {
    return *machine_.scheduler().start("rescue", [this] {
      rest(machine_, seconds(60));
      machine_.cluster.go_on();
    });
  }
  /// Removes the object of the owner's first file, as no owner does.
  void lose_first_object(std::uint64_t epoch) {
    const std::string end = "/" + std::to_string(epoch) + ".1.0";
    for (const std::string& object : machine_.cluster.names()) {
      if (!object.ends_with(end)) continue;
      ObjectChange removal;
      removal.object = object;
      removal.epoch = 1000;
      removal.removes = true;
      ASSERT_EQ(machine_.cluster.make_door()->change(removal), 0);
    }
  }

  RadosMachine machine_;
};

TEST_P(RadosPatientRead, OfALostObjectDoesNotWaitWithoutEndForTheRoot) {
  for (const bool has_lease : {true, false}) {
    SCOPED_TRACE(has_lease);
    RadosOptions options;
    options.takeover_wait = has_lease;
    RadosProgram& program = machine_.start(options);
    const std::unique_ptr<Directory> owned = open(program);
    const auto owner = lock(*owned);
    ASSERT_TRUE(is_ok(owner));
    const std::string name = has_lease ? "a" : "b";
    ASSERT_TRUE(is_ok(write_whole(*owned, name, bytes_of("content"))));
    const auto file = owned->open(name, ReadMode::kDirect);
    ASSERT_TRUE(is_ok(file));
    lose_first_object((*owner)->epoch());
    program.files->process().set_read_patience(seconds(3));
    machine_.cluster.stand_still(root_object(test::kStoreName));
    Thread rescue = begin_rescue();
    Bytes bytes(7);
    const auto began = machine_.clock.monotonic();
    EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kBusy));
    EXPECT_LT(machine_.clock.monotonic() - began, milliseconds(3500));
    rescue = Thread();
    EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kCorruption, "lost the object"));
  }
}

TEST_P(RadosPatientRead, OfTwoObjectsHasOnePatienceForBoth) {
  RadosProgram& program = machine_.start({}, std::make_unique<SlowReads>(machine_, machine_.cluster.make_door()));
  const std::unique_ptr<Directory> owned = open(program);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  ASSERT_TRUE(is_ok(write_whole(*owned, "a", Bytes(kStripeBytes + 8, std::byte{1}))));
  const auto file = owned->open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  program.files->process().set_read_patience(seconds(3));
  Bytes bytes(16);
  const auto began = machine_.clock.monotonic();
  EXPECT_TRUE(fails_with((*file)->read_exactly(kStripeBytes - 8, bytes), Code::kBusy));
  EXPECT_LT(machine_.clock.monotonic() - began, milliseconds(3500));
  program.files->process().set_read_patience(seconds(5));
  EXPECT_TRUE(is_ok((*file)->read_exactly(kStripeBytes - 8, bytes)));
  EXPECT_EQ(bytes, Bytes(16, std::byte{1}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RadosPatientRead, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::io::rados_patient_read_test
