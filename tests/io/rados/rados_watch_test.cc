// Goal: a read that its cluster does not answer is given up, a write waits and is made, and the figures say so.
// Method: a process and a model of RADOS, in which operations wait. Threads and time follow a seed.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/pool_watch.h"
#include "io/rados/watched_door.h"
#include "tests/io/io_test_support.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_watch_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SyncPoint kPoint{"test"};

class RadosWatch : public testing::TestWithParam<std::uint64_t> {
 protected:
  RadosWatch() : machine_(GetParam()), door_(machine_.cluster.make_door()), watched_(*door_, machine_.clock) {
    RadosOptions options;
    options.renewal_time = milliseconds(500);
    files_ = std::make_unique<RadosFileSystem>("pool", watched_, machine_.clock, machine_.random, machine_.scheduler(),
                                               options);
    EXPECT_TRUE(is_ok(files_->create_directory(test::kRadosPath, kPoint)));
    directory_ = *files_->open_directory(test::kRadosPath);
    Result<std::unique_ptr<DirectoryLock>> lock = directory_->lock("LOCK", LockMode::kExclusive, milliseconds(0));
    EXPECT_TRUE(is_ok(lock));
    lock_ = *std::move(lock);
  }
  void let_pass(milliseconds time) { files_->process().rest(time); }

  /// Begins a write of a new file, which may wait.
  Thread begin_write(Status& written) {
    return *machine_.scheduler().start("writer", [&] { written = write_whole(*directory_, "b", bytes_of("later")); });
  }

  test::RadosMachine machine_;
  const std::unique_ptr<ObjectDoor> door_;
  WatchedDoor watched_;
  std::unique_ptr<RadosFileSystem> files_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<DirectoryLock> lock_;
};

TEST_P(RadosWatch, AReadIsGivenUpAfterItsPatienceAndSucceedsLater) {
  ASSERT_TRUE(is_ok(write_whole(*directory_, "a", bytes_of("content"))));
  const auto file = directory_->open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  files_->process().set_read_patience(seconds(3));
  machine_.cluster.stand_still("");
  Bytes bytes(7);
  const auto began = machine_.clock.monotonic();
  EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kBusy, "does not answer in time"));
  EXPECT_GE(machine_.clock.monotonic() - began, seconds(3));
  EXPECT_LT(machine_.clock.monotonic() - began, seconds(4));
  EXPECT_EQ(watched_.reads().given_up, 1U);
  EXPECT_GE(watched_.reads().slow, 1U);
  machine_.cluster.go_on();
  EXPECT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(bytes, bytes_of("content"));
  EXPECT_EQ(watched_.reads().given_up, 1U);
}

// Tables are opened when they are first read. A flush may wait then for the root.
TEST_P(RadosWatch, AFileIsOpenedAndReadWhileAChangeOfTheDirectoryWaits) {
  ASSERT_TRUE(is_ok(write_whole(*directory_, "a", bytes_of("content"))));
  machine_.cluster.stand_still(root_object(test::kStoreName));
  Status written(Code::kUnknown);
  Thread writer = begin_write(written);
  Thread cluster = *machine_.scheduler().start("cluster", [&] {
    let_pass(seconds(60));
    machine_.cluster.go_on();
  });
  let_pass(seconds(1));
  const auto began = machine_.clock.monotonic();
  EXPECT_EQ(*read_whole(*directory_, "a", ReadMode::kDirect), bytes_of("content"));
  EXPECT_EQ(names_in(*directory_), std::vector<std::string>{"a"});
  EXPECT_LT(machine_.clock.monotonic() - began, seconds(1));
  EXPECT_EQ(written.code(), Code::kUnknown) << "it waits";
  cluster = Thread();
  writer = Thread();
  EXPECT_TRUE(is_ok(written));
  EXPECT_EQ(names_in(*directory_), (std::vector<std::string>{"a", "b"}));
}

TEST_P(RadosWatch, WithoutPatienceAReadWaits) {
  ASSERT_TRUE(is_ok(write_whole(*directory_, "a", bytes_of("content"))));
  const auto file = directory_->open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  machine_.cluster.stand_still("");
  Status done(Code::kUnknown);
  Bytes bytes(7);
  Thread reader = *machine_.scheduler().start("reader", [&] { done = (*file)->read_exactly(0, bytes); });
  let_pass(seconds(60));
  EXPECT_EQ(done.code(), Code::kUnknown) << "it waits";
  machine_.cluster.go_on();
  reader = Thread();
  EXPECT_TRUE(is_ok(done));
}

TEST_P(RadosWatch, BelowTheLeastNumberOfCopiesAWriteWaitsAndIsMadeLater) {
  files_->process().set_read_patience(seconds(3));
  PoolWatch pool(watched_, files_->process(), machine_.scheduler());
  pool.look();
  EXPECT_EQ(pool.seen()->copies, 2U);
  machine_.cluster.set_copies(1);
  Status written(Code::kUnknown);
  Thread writer = begin_write(written);
  let_pass(seconds(20));
  EXPECT_EQ(written.code(), Code::kUnknown) << "nothing is acknowledged, and patience is for reads alone";
  const DoorFigures changes = watched_.changes();
  EXPECT_GE(changes.longest_wait, seconds(19));
  EXPECT_EQ(changes.waiting, 2U) << "the write, and the renewal of the lease";
  EXPECT_FALSE(changes.longest_object.empty());
  const OwnershipFigures late = files_->process().figures();
  EXPECT_GE(*late.lease_age, seconds(19));
  EXPECT_FALSE(late.is_fenced);
  pool.look();
  EXPECT_EQ(pool.seen()->copies, 1U);
  EXPECT_LT(pool.seen()->copies, pool.seen()->copies_min);

  machine_.cluster.set_copies(2);
  writer = Thread();
  EXPECT_TRUE(is_ok(written));
  EXPECT_EQ(*read_whole(*directory_, "b"), bytes_of("later"));
  let_pass(seconds(1));
  const OwnershipFigures back = files_->process().figures();
  EXPECT_LT(*back.lease_age, seconds(2));
  EXPECT_EQ(back.lease_lapses, 1U);
  EXPECT_LT(watched_.changes().longest_wait, seconds(1)) << "a renewal of the lease may be on its way";
  EXPECT_TRUE(is_ok(lock_->check()));
}

TEST_P(RadosWatch, OperationsAreCountedByTheObjectsThatTheyAreFor) {
  EXPECT_EQ(watched_.changes(ObjectClass::kLog).answered, 0U);
  EXPECT_EQ(watched_.changes(ObjectClass::kFile).answered, 0U);
  const auto segment = directory_->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok((*segment)->write(0, sector.bytes(), kPoint)));
  EXPECT_EQ(watched_.changes(ObjectClass::kLog).answered, 2U) << "it was made and written";
  EXPECT_EQ(watched_.changes(ObjectClass::kFile).answered, 0U);

  const std::uint64_t of_root = watched_.changes(ObjectClass::kRoot).answered;
  ASSERT_TRUE(is_ok(write_whole(*directory_, "a", bytes_of("content"))));
  EXPECT_EQ(watched_.changes(ObjectClass::kFile).answered, 1U);
  EXPECT_EQ(watched_.changes(ObjectClass::kRoot).answered, of_root + 2) << "its entry was made, and has its size";
  EXPECT_GE(watched_.changes(ObjectClass::kLease).answered, 1U);

  Bytes bytes(7);
  for (const char* const name : {"1.wal", "a", "a"}) {
    const auto file = directory_->open(name, ReadMode::kCached);
    ASSERT_TRUE(is_ok(file));
    ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  }
  EXPECT_EQ(watched_.reads(ObjectClass::kLog).answered, 1U);
  EXPECT_EQ(watched_.reads(ObjectClass::kFile).answered, 2U);

  Status written(Code::kUnknown);
  machine_.cluster.stand_still("");
  Thread writer =
      *machine_.scheduler().start("writer", [&] { written = (*segment)->write(kSectorBytes, sector.bytes(), kPoint); });
  let_pass(seconds(2));
  machine_.cluster.go_on();
  writer = Thread();
  EXPECT_TRUE(is_ok(written));
  const ClassFigures log = watched_.changes(ObjectClass::kLog);
  EXPECT_EQ(log.answered, 3U);
  EXPECT_EQ(log.slow, 1U);
  EXPECT_GE(log.time, seconds(1));
  EXPECT_EQ(watched_.changes(ObjectClass::kFile).slow, 0U);

  std::uint64_t reads = 0;
  std::uint64_t changes = 0;
  for (const ObjectClass of : {ObjectClass::kRoot, ObjectClass::kLease, ObjectClass::kLog, ObjectClass::kFile}) {
    reads += watched_.reads(of).answered;
    changes += watched_.changes(of).answered;
  }
  EXPECT_EQ(reads, watched_.reads().answered);
  EXPECT_EQ(changes, watched_.changes().answered);
}

TEST_P(RadosWatch, AFullPoolIsSeenAndItsRefusalsAreCounted) {
  machine_.cluster.set_full(true);
  PoolWatch pool(watched_, files_->process(), machine_.scheduler());
  EXPECT_EQ(pool.seen(), std::nullopt);
  pool.look();
  EXPECT_TRUE(pool.seen()->is_full);
  EXPECT_TRUE(fails_with(write_whole(*directory_, "b", bytes_of("x")), Code::kNoSpace));
  EXPECT_GE(watched_.changes().refused_full, 1U);
}

TEST_P(RadosWatch, ThePoolIsAskedInTheBackground) {
  PoolWatch pool(watched_, files_->process(), machine_.scheduler());
  ASSERT_TRUE(is_ok(pool.start()));
  ASSERT_TRUE(is_ok(pool.start())) << "again";
  let_pass(seconds(1));
  EXPECT_FALSE(pool.seen()->is_full);
  machine_.cluster.set_full(true);
  let_pass(seconds(6));
  EXPECT_TRUE(pool.seen()->is_full);
}

TEST_P(RadosWatch, ATakeoverIsCountedByBothOwners) {
  machine_.cluster.hold_blocklists();
  EXPECT_EQ(files_->process().figures().owned.at(test::kStoreName), 1U);
  RadosOptions options;
  options.takeover_wait = false;
  test::RadosProgram& second = machine_.start(options);
  const auto directory = second.files->open_directory(test::kRadosPath);
  ASSERT_TRUE(is_ok(directory));
  const auto lock = (*directory)->lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  const OwnershipFigures taken = second.files->process().figures();
  EXPECT_EQ(taken.owned.at(test::kStoreName), 2U);
  EXPECT_EQ(taken.ownerships, 1U);
  EXPECT_EQ(taken.takeovers, 1U);
  EXPECT_EQ(files_->process().figures().takeovers, 0U);
  EXPECT_TRUE(fails_with(directory_->confirm_owner(), Code::kFenced));
  EXPECT_TRUE(fails_with(directory_->confirm_owner(), Code::kFenced));
  EXPECT_EQ(files_->process().figures().fences, 1U) << "once for a handle";
  files_->process().renew();
  EXPECT_TRUE(files_->process().figures().is_fenced);
}

TEST_P(RadosWatch, ATakeoverThatTheRenewalFindsIsCounted) {
  machine_.cluster.hold_blocklists();
  RadosOptions options;
  options.takeover_wait = false;
  test::RadosProgram& second = machine_.start(options);
  const auto directory = second.files->open_directory(test::kRadosPath);
  ASSERT_TRUE(is_ok(directory));
  const auto lock = (*directory)->lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  files_->process().renew();
  EXPECT_TRUE(files_->process().figures().is_fenced);
  EXPECT_TRUE(fails_with(lock_->check(), Code::kFenced));
  EXPECT_TRUE(fails_with(lock_->check(), Code::kFenced));
  EXPECT_TRUE(fails_with(directory_->confirm_owner(), Code::kFenced));
  EXPECT_EQ(files_->process().figures().fences, 1U) << "once for a handle";
  EXPECT_EQ(second.files->process().figures().fences, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RadosWatch, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::io::rados_watch_test
