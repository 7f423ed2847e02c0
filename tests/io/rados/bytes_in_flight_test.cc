// Goal: what the files and large reads of all stores of a connection have on their way is bounded, in turn, without a
// deadlock, and no write of a log waits for it.
// Method: an account alone, and two stores of one process over a model of RADOS in which the objects of one hang. Threads and
// time follow a seed.
#include "io/rados/bytes_in_flight.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/rados_file_system.h"
#include "io/rados/rados_names.h"
#include "tests/io/io_test_support.h"
#include "tests/support/rados_machine.h"

namespace varve::io::bytes_in_flight_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SyncPoint kPoint{"test"};

class BytesInFlightTurns : public testing::TestWithParam<std::uint64_t> {
 protected:
  BytesInFlightTurns() : machine_(GetParam()) {}

  void let_pass(milliseconds time) {
    Mutex mutex(machine_.scheduler());
    Condition never(machine_.scheduler());
    const auto end = machine_.clock.monotonic() + time;
    const MutexGuard guard(mutex);
    while (machine_.clock.monotonic() < end) (void)never.wait_for(mutex, end - machine_.clock.monotonic());
  }

  test::RadosMachine machine_;
  BytesInFlight account_{machine_.scheduler(), machine_.clock, 10};
};

TEST_P(BytesInFlightTurns, ASmallOneDoesNotPassALargeOneThatCameFirst) {
  BytesInFlight::Share held;
  ASSERT_TRUE(account_.try_take(held, 5));
  std::string order;
  const auto begin = [&](char name, std::uint64_t bytes) {
    Thread thread = *machine_.scheduler().start("taker", [this, &order, name, bytes] {
      BytesInFlight::Share share;
      EXPECT_TRUE(account_.take(share, bytes, milliseconds(0)));
      order.push_back(name);
    });
    let_pass(milliseconds(100));
    return thread;
  };
  Thread large = begin('L', 10);
  Thread small = begin('s', 1);
  BytesInFlight::Share another;
  EXPECT_FALSE(account_.try_take(another, 1)) << "two wait";
  EXPECT_EQ(order, "");
  EXPECT_EQ(account_.bytes(), 5U);
  held.give_back();
  large = Thread();
  small = Thread();
  EXPECT_EQ(order, "Ls");
  EXPECT_EQ(account_.bytes(), 0U);
}

TEST_P(BytesInFlightTurns, OneThatGivesUpLeavesItsTurnToTheNext) {
  BytesInFlight::Share held;
  ASSERT_TRUE(account_.try_take(held, 5));
  const auto began = machine_.clock.monotonic();
  bool has_given_up = false;
  Thread large = *machine_.scheduler().start("taker", [&] {
    BytesInFlight::Share share;
    has_given_up = !account_.take(share, 6, seconds(1));
  });
  let_pass(milliseconds(100));
  BytesInFlight::Share share;
  EXPECT_TRUE(account_.take(share, 5, milliseconds(0)));
  EXPECT_GE(machine_.clock.monotonic() - began, seconds(1));
  EXPECT_LT(machine_.clock.monotonic() - began, seconds(2));
  large = Thread();
  EXPECT_TRUE(has_given_up);
  EXPECT_EQ(account_.bytes(), 10U);
}

TEST_P(BytesInFlightTurns, MoreThanTheLimitIsTakenAlone) {
  BytesInFlight::Share share;
  EXPECT_TRUE(account_.take(share, 1000, milliseconds(0)));
  EXPECT_EQ(account_.bytes(), 10U);
  BytesInFlight::Share other;
  EXPECT_FALSE(account_.try_take(other, 1));
  EXPECT_FALSE(account_.take(other, 1, milliseconds(20)));
  share.give_back();
  share.give_back();
  EXPECT_EQ(account_.bytes(), 0U);
  EXPECT_TRUE(account_.try_take(other, 10));
}

INSTANTIATE_TEST_SUITE_P(Seeds, BytesInFlightTurns, testing::Range(std::uint64_t{1}, std::uint64_t{5}));

/// Two stores of one process.
class BytesInFlightOfStores : public testing::Test {
 protected:
  BytesInFlightOfStores() : machine_(1), program_(machine_.start()) {
    for (const char* const path : {test::kRadosPath, "rados:pool/other"}) {
      EXPECT_TRUE(is_ok(program_.files->create_directory(path, kPoint)));
      stores_.push_back(*program_.files->open_directory(path));
      locks_.push_back(*stores_.back()->lock("LOCK", LockMode::kExclusive, milliseconds(0)));
    }
  }

  Status append(WritableFile& file, int count) {
    const Bytes content(kStripeBytes, std::byte{1});
    for (; count > 0; --count) {
      if (Status appended = file.append(content); !appended.ok()) return appended;
    }
    return Status();
  }

  test::RadosMachine machine_;
  test::RadosProgram& program_;
  std::vector<std::unique_ptr<Directory>> stores_;
  std::vector<std::unique_ptr<DirectoryLock>> locks_;
};

TEST_F(BytesInFlightOfStores, WhileTheObjectsOfOneHangTheOtherWritesItsLogAndItsTablesLater) {
  ObjectLook root;
  ASSERT_EQ(machine_.cluster.make_door()->look(root_object(test::kStoreName), root), 0);
  const auto segment = stores_[1]->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  std::vector<std::unique_ptr<WritableFile>> files;
  for (const char* const name : {"1", "2", "3"}) files.push_back(*stores_[0]->create(name));
  const std::unique_ptr<WritableFile> other = *stores_[1]->create("1");

  machine_.cluster.stand_still(root.attributes["id"] + "/");
  BytesInFlight& in_flight = program_.files->process().stripes_in_flight();
  for (const std::unique_ptr<WritableFile>& file : files) ASSERT_TRUE(is_ok(append(*file, 4)));
  EXPECT_EQ(in_flight.bytes(), kStripeBytesOfProcess);
  Status appended(Code::kUnknown);
  Thread writer = *machine_.scheduler().start("writer", [&] { appended = append(*other, 1); });
  program_.files->process().rest(seconds(1));
  EXPECT_EQ(appended.code(), Code::kUnknown) << "it waits for its turn";
  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  const auto began = machine_.clock.monotonic();
  EXPECT_TRUE(is_ok((*segment)->write(0, sector.bytes(), kPoint)));
  EXPECT_LT(machine_.clock.monotonic() - began, seconds(1));
  EXPECT_EQ(appended.code(), Code::kUnknown);
  EXPECT_EQ(in_flight.bytes(), kStripeBytesOfProcess);

  machine_.cluster.go_on();
  writer = Thread();
  EXPECT_TRUE(is_ok(appended)) << "though the files of the first store have not awaited theirs";
  EXPECT_TRUE(is_ok(other->sync(kPoint)));
  for (const std::unique_ptr<WritableFile>& file : files) EXPECT_TRUE(is_ok(file->sync(kPoint)));
  EXPECT_EQ(in_flight.bytes(), 0U);
}

TEST_F(BytesInFlightOfStores, ALargeReadWaitsForOthersAsLongAsItsPatienceAndASmallOneDoesNot) {
  ASSERT_TRUE(is_ok(write_whole(*stores_[0], "a", Bytes(2 * kSmallReadBytes, std::byte{7}))));
  const auto file = stores_[0]->open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  RadosProcess& process = program_.files->process();
  process.set_read_patience(seconds(3));
  BytesInFlight::Share others;
  ASSERT_TRUE(process.reads_in_flight().try_take(others, kReadBytesOfProcess));
  Bytes bytes(2 * kSmallReadBytes);
  const auto began = machine_.clock.monotonic();
  EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kBusy, "does not answer other reads in time"));
  EXPECT_GE(machine_.clock.monotonic() - began, seconds(3));
  EXPECT_TRUE(is_ok((*file)->read_exactly(0, std::span(bytes).first(kSmallReadBytes))));
  others.give_back();
  EXPECT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(bytes, Bytes(2 * kSmallReadBytes, std::byte{7}));
  EXPECT_EQ(process.reads_in_flight().bytes(), 0U);
}

}  // namespace
}  // namespace varve::io::bytes_in_flight_test
