// Goal: the space of a log segment that a flush released serves a later segment, under every condition that keeps the
// old bytes from being missed or believed. An idle log writes no zeros and holds no unused space.
// Method: threads run one at a time by seed, on a disk in memory. Rerun one seed of the power cuts with
// VARVE_SEED=<number>.
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "engine/log/fill_pace.h"
#include "engine/log/released_segments.h"
#include "format/log/file_header.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::recycling_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::size_t kValueBytes = 12'000;  // Larger values would stay in the log as value files.
constexpr std::chrono::seconds kLongIdle{30};

std::string name_of(int row) {
  return "row" + std::to_string(1000 + row);
}
std::string value_of_row(int row) {
  return std::string(kValueBytes, static_cast<char>('a' + row % 26));
}

class Recycling : public testing::Test {
 protected:
  explicit Recycling(std::uint64_t seed = 1) : machine_(seed, test::OneThreadAtATime{}) {}

  void open() {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  void write_one() {
    const auto committed = Change().put("p", name_of(written_), value_of_row(written_)).commit(*engine_);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
    ++written_;
  }
  void write(int rows) {
    for (int i = 0; i < rows && !HasFatalFailure(); ++i) write_one();
  }
  /// Closes the segment in use, which has a commit.
  void roll() {
    ASSERT_NO_FATAL_FAILURE(write_one());
    const auto made = engine_->checkpoint("/copy" + std::to_string(++copies_));
    ASSERT_TRUE(made.ok()) << made.status().to_string();
  }
  /// Fills the first segments, so that the second one, of two mebibytes, can be recycled. It leaves the third in use.
  void fill_two_segments() {
    ASSERT_NO_FATAL_FAILURE(open());
    while (engine_->statistics().log_segments < 4) ASSERT_NO_FATAL_FAILURE(write_one());
  }
  /// Fills two segments, releases them, and leaves the log in the one that was recycled, if any was.
  void use_recycled() {
    ASSERT_NO_FATAL_FAILURE(fill_two_segments());
    ASSERT_EQ(engine_->flush().to_string(), "Ok");
    ASSERT_NO_FATAL_FAILURE(roll());
    ASSERT_NO_FATAL_FAILURE(roll());
  }
  void count_recycled() {
    machine_.files->set_observer([this](const io::Operation& operation, io::Moment moment) {
      if (operation.kind != io::OperationKind::kRecycleLogSegment || moment != io::Moment::kAfter) return;
      const std::string path = std::string(test::kStorePath) + "/" + std::string(operation.name);
      if (machine_.files->snapshot().contains(path)) ++recycled_;
    });
  }
  void expect_rows(const Engine& engine, int rows) {
    for (int row = 0; row < rows; ++row) ASSERT_EQ(test::value_of(engine, "p", name_of(row)), value_of_row(row)) << row;
    ASSERT_EQ(test::value_of(engine, "p", name_of(rows)), "-");
  }
  std::uint64_t segment_bytes() const {
    std::uint64_t bytes = 0;
    const io::MemoryDisk disk = machine_.files->snapshot();
    for (const std::string& name : disk.file_names(test::kStorePath)) {
      if (name.ends_with(".wal")) bytes += *disk.file_size_bytes(std::string(test::kStorePath) + "/" + name);
    }
    return bytes;
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
  int written_ = 0;
  int copies_ = 0;
  int recycled_ = 0;
};

TEST_F(Recycling, AnIdleLogWritesNoZerosAhead) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_TRUE(Change().put("p", "r", "v").commit(*engine_).ok());
  io::Mutex mutex(machine_.scheduler());
  io::Condition nothing(machine_.scheduler());
  {
    const io::MutexGuard guard(mutex);
    while (nothing.wait_for(mutex, kLongIdle)) continue;
  }
  EXPECT_EQ(engine_->statistics().fill_bytes, 0u);
}

TEST_F(Recycling, ZerosKeepPaceWithTheLog) {
  ASSERT_NO_FATAL_FAILURE(open());
  const std::string value(500, 'v');
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_TRUE(Change().put("p", std::to_string(i), value).commit(*engine_).ok());
    const Statistics now = engine_->statistics();
    // The next segment has twice the size of the current one, and is due before its end.
    ASSERT_LE(now.fill_bytes, now.log_bytes / 7 * 8 * 2 + kFillStepBytes);
  }
  EXPECT_GE(engine_->statistics().fill_bytes, kSegmentBytesMin) << "space was prepared";
}

TEST_F(Recycling, AFillThatFailsCostsNoCommit) {
  ASSERT_NO_FATAL_FAILURE(open());
  io::FaultRule rule;
  rule.kind = io::OperationKind::kFill;
  rule.fail_count = 3;
  machine_.files->faults().add(rule);
  ASSERT_NO_FATAL_FAILURE(write(300));
  EXPECT_EQ(machine_.files->faults().hit_count(), 3u);
  EXPECT_EQ(engine_->close().to_string(), "Ok");
  ASSERT_NO_FATAL_FAILURE(open());
  expect_rows(*engine_, written_);
}

TEST_F(Recycling, AReleasedSegmentServesTheLogAgain) {
  count_recycled();
  ASSERT_NO_FATAL_FAILURE(use_recycled());
  EXPECT_EQ(recycled_, 1);
  ASSERT_NO_FATAL_FAILURE(write(5));
  expect_rows(*engine_, written_);
  {
    Machine killed(9, machine_.files->process_death(machine_.random));
    auto recovered = killed.open();
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    expect_rows(**recovered, written_);
  }
  ASSERT_EQ(engine_->close().to_string(), "Ok");
  ASSERT_NO_FATAL_FAILURE(open());
  expect_rows(*engine_, written_);
}

TEST_F(Recycling, ALogThatTurnsInItsOwnSegmentsWritesFewZeros) {
  ASSERT_NO_FATAL_FAILURE(open());
  // The log grows, until a flush releases more segments than the log fills before the next one.
  for (int round = 0; round < 10; ++round) {
    ASSERT_NO_FATAL_FAILURE(write(300));
    ASSERT_EQ(engine_->flush().to_string(), "Ok");
  }
  const Statistics before = engine_->statistics();
  for (int round = 0; round < 4; ++round) {
    ASSERT_NO_FATAL_FAILURE(write(300));
    ASSERT_EQ(engine_->flush().to_string(), "Ok");
  }
  const Statistics after = engine_->statistics();
  EXPECT_LE(after.fill_bytes - before.fill_bytes, (after.log_bytes - before.log_bytes) / 10);
}

TEST_F(Recycling, ACleanCloseLeavesNoOldByteAndNoUnusedSegment) {
  ASSERT_NO_FATAL_FAILURE(fill_two_segments());
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  ASSERT_NO_FATAL_FAILURE(write(3));
  ASSERT_EQ(engine_->close().to_string(), "Ok");
  EXPECT_LE(segment_bytes(), engine_->statistics().log_bytes);
  const io::MemoryDisk disk = machine_.files->snapshot();
  Machine reader(3, disk);
  auto reading = reader.open(Machine::reading());
  ASSERT_TRUE(reading.ok()) << reading.status().to_string();
  expect_rows(**reading, written_);
  std::set<std::string> before;
  for (const std::string& name : disk.file_names(test::kStorePath)) before.insert(name);
  for (const std::string& name : before) EXPECT_FALSE(name.ends_with(".buf")) << name;
}

TEST_F(Recycling, ASegmentThatACheckpointContainsKeepsItsBytes) {
  count_recycled();
  ASSERT_NO_FATAL_FAILURE(fill_two_segments());
  ASSERT_NO_FATAL_FAILURE(roll());
  const int in_copy = written_;
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  for (int i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(roll());
  EXPECT_EQ(recycled_, 0);
  ASSERT_NO_FATAL_FAILURE(write(3));
  auto copy = Engine::open(machine_.env(), "/copy1", Machine::reading());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  expect_rows(**copy, in_copy);
}

TEST_F(Recycling, ASegmentThatACheckpointIsAboutToLinkKeepsItsName) {
  ASSERT_NO_FATAL_FAILURE(fill_two_segments());
  const int in_copy = written_;
  bool is_linking = false;
  bool has_left = false;
  machine_.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
    if (operation.kind != io::OperationKind::kLink || moment != io::Moment::kBefore) return;
    is_linking = true;
    while (!has_left) machine_.scheduler().yield();
  });
  Status flushed;
  auto other = machine_.scheduler().start("writer", [&] {
    while (!is_linking) machine_.scheduler().yield();
    flushed = engine_->flush();
    // The next two segments are made meanwhile.
    const std::uint64_t segments = engine_->statistics().log_segments;
    while (engine_->statistics().log_segments < segments + 1 && !HasFatalFailure()) write_one();
    has_left = true;
  });
  ASSERT_TRUE(other.ok());
  const auto made = engine_->checkpoint("/copy");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  *other = io::Thread();
  machine_.files->set_observer({});
  EXPECT_EQ(flushed.to_string(), "Ok");
  auto copy = Engine::open(machine_.env(), "/copy", Machine::reading());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  expect_rows(**copy, in_copy);
}

TEST_F(Recycling, ASegmentOfAnEarlierOpeningIsNotRecycled) {
  ASSERT_NO_FATAL_FAILURE(fill_two_segments());
  ASSERT_EQ(engine_->close().to_string(), "Ok");
  ASSERT_NO_FATAL_FAILURE(open());
  count_recycled();
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  for (int i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(roll());
  EXPECT_EQ(recycled_, 0);
}

/// The code with which a step of recycling fails, and whether the step is the write of the header.
class RecyclingFailure : public Recycling, public testing::WithParamInterface<std::tuple<Code, bool>> {};

TEST_P(RecyclingFailure, GivesWayToANewFile) {
  const auto [code, fails_at_header] = GetParam();
  ASSERT_NO_FATAL_FAILURE(fill_two_segments());
  io::FaultRule rule;
  rule.kind = io::OperationKind::kRecycleLogSegment;
  rule.code = code;
  if (fails_at_header) {
    rule.kind = io::OperationKind::kLogWrite;
    rule.sync_point = sync_points::kSegmentHeader.name;
  }
  machine_.files->faults().add(rule);
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  for (int i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(roll());
  ASSERT_NO_FATAL_FAILURE(write(10));
  ASSERT_EQ(engine_->close().to_string(), "Ok");
  ASSERT_NO_FATAL_FAILURE(open());
  expect_rows(*engine_, written_);
}

INSTANTIATE_TEST_SUITE_P(, RecyclingFailure,
                         testing::Combine(testing::Values(Code::kIoError, Code::kNoSpace, Code::kUnsupported),
                                          testing::Bool()));

TEST_F(Recycling, AnIdleLogGivesItsSpaceBack) {
  ASSERT_NO_FATAL_FAILURE(fill_two_segments());
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  EXPECT_GT(segment_bytes(), 5 * kSegmentBytesMin);
  io::Mutex mutex(machine_.scheduler());
  io::Condition nothing(machine_.scheduler());
  {
    const io::MutexGuard guard(mutex);
    while (nothing.wait_for(mutex, kLongIdle)) continue;
  }
  EXPECT_LE(segment_bytes(), 3 * kSegmentBytesMin) << "the segment in use and a small spare";
  ASSERT_NO_FATAL_FAILURE(write(40));
  expect_rows(*engine_, written_);
}

// -- Power cuts -------------------------------------------------------------------------------------------------------

struct Image {
  io::MemoryDisk disk;
  int acknowledged = 0;
  std::string where;
};

std::uint64_t seed_of(std::uint64_t parameter) {
  const char* const chosen = std::getenv("VARVE_SEED");
  return chosen == nullptr ? parameter : std::strtoull(chosen, nullptr, 10);
}

class RecyclingPowerCut : public Recycling, public testing::WithParamInterface<std::uint64_t> {
 protected:
  RecyclingPowerCut() : Recycling(seed_of(GetParam())) {}

  void look(const io::Operation& operation, io::Moment moment) {
    if (moment == io::Moment::kBefore || !io::is_mutating(operation.kind)) return;
    const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name) +
                              " #" + std::to_string(operation.index);
    for (io::MemoryDisk& disk : machine_.files->power_cuts(picks_, 2)) {
      images_.push_back({std::move(disk), written_, where + ", power cut"});
    }
    images_.push_back({machine_.files->process_death(picks_), written_, where + ", kill"});
  }
  void check(Image& image) {
    Machine machine(seed_of(GetParam()) + 7, std::move(image.disk));
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    int found = 0;
    while (test::value_of(**engine, "p", name_of(found)) != "-") ++found;
    ASSERT_GE(found, image.acknowledged);
    ASSERT_LE(found, image.acknowledged + 1) << "at most one commit was in flight";
    expect_rows(**engine, found);
    // The log of the new opening works, too.
    ASSERT_TRUE(Change().put("p", name_of(found), value_of_row(found)).commit(**engine).ok());
    ASSERT_EQ((*engine)->close().to_string(), "Ok");
    auto again = machine.open(Machine::reading());
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    expect_rows(**again, found + 1);
  }

  io::SeededRandom picks_{seed_of(GetParam()) + 1};
  std::vector<Image> images_;
};

TEST_P(RecyclingPowerCut, LosesNothingAndBelievesNothingOld) {
  SCOPED_TRACE("seed " + std::to_string(seed_of(GetParam())));
  ASSERT_NO_FATAL_FAILURE(fill_two_segments());
  bool recycled = false;
  machine_.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
    recycled |= operation.kind == io::OperationKind::kRecycleLogSegment;
    look(operation, moment);
  });
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  ASSERT_NO_FATAL_FAILURE(roll());
  ASSERT_NO_FATAL_FAILURE(roll());
  ASSERT_NO_FATAL_FAILURE(write(4));
  ASSERT_NO_FATAL_FAILURE(roll());
  ASSERT_NO_FATAL_FAILURE(write(1));
  ASSERT_EQ(engine_->close().to_string(), "Ok");
  machine_.files->set_observer({});
  ASSERT_TRUE(recycled);
  ASSERT_GT(images_.size(), 50u);
  for (std::size_t i = 0; i < images_.size(); i += test::kStride) {
    SCOPED_TRACE(images_[i].where);
    check(images_[i]);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(, RecyclingPowerCut, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(4)));

}  // namespace
}  // namespace varve::engine::recycling_test
