// Goal: whatever happens during a checkpoint, the origin is undamaged, and the target is complete or no store.
// Method: a checkpoint on the in-memory disk is cut at each of its steps, fails at each step, and runs out of room at
// each size of the device. It is also made with each of its syncs left out. All use links and copies.
#include <cstdlib>
#include <set>

#include "engine/base/sync_points.h"
#include "engine/manifest/manifest.h"
#include "tests/engine/checkpoint/checkpoint_bench.h"
#include "tests/support/effort.h"

namespace varve::engine::checkpoint_crash_test {
namespace {

using test::Change;
using test::Machine;

struct Image {
  io::MemoryDisk disk;
  bool made = false;  // the call had returned
  std::string where;
};

/// The state of the target on a disk: no store with a clear error, or all of it.
enum class Became { kNothing, kWhole, kBroken };

Became became(Machine& machine, const Rows& rows, std::string* why) {
  const auto copy = open_at(machine, kCopyPath);
  *why = copy.status().to_string();
  if (copy.code() == Code::kNotFound) return Became::kNothing;
  const bool is_unfinished =
      copy.code() == Code::kCorruption && copy.status().message().find("an unfinished checkpoint") != std::string::npos;
  if (is_unfinished) return Became::kNothing;
  if (!copy.ok()) return Became::kBroken;
  *why = "opened";
  const bool whole = rows_of(**copy) == rows && tables_of(**copy).ok();
  return whole && Change().put("after", "row", "v").commit(**copy).ok() ? Became::kWhole : Became::kBroken;
}

/// Tests links and copies.
class CheckpointCrash : public testing::TestWithParam<bool> {
 protected:
  /// Returns the disk of a store that fill() filled, after a close.
  static io::MemoryDisk filled_disk(Rows* rows, bool with_drop = true) {
    Machine machine;
    auto engine = machine.open();
    EXPECT_TRUE(engine.ok());
    fill(**engine, with_drop);
    *rows = rows_of(**engine);
    EXPECT_TRUE((*engine)->close().ok());
    return machine.files->snapshot();
  }
  /// Reopens the store, and writes to the log's new segment.
  static std::unique_ptr<Engine> open_filled(Machine& machine, Rows* rows) {
    if (!GetParam()) forbid_links(machine);
    auto engine = machine.open();
    EXPECT_TRUE(engine.ok()) << engine.status().to_string();
    EXPECT_TRUE(Change().put("p", "in the last segment", "s").commit(**engine).ok());
    *rows = rows_of(**engine);
    return *std::move(engine);
  }
  /// Afterwards no background work takes room, because the log's new segment is empty and the next one exists.
  static void await_spare_segment(const Engine& engine, const io::MemoryDisk& closed) {
    std::size_t segments = 2;
    for (const std::string& name : closed.file_names(test::kStorePath)) {
      if (name.ends_with(".wal")) ++segments;
    }
    while (engine.statistics().log_segments < segments) continue;
  }
  static void expect_origin_sound(Machine& machine, const Rows& rows) {
    const auto origin = machine.open();
    ASSERT_TRUE(origin.ok()) << origin.status().to_string();
    Rows found = rows_of(**origin);
    found.erase("after/row");
    ASSERT_EQ(found, rows);
    ASSERT_TRUE(tables_of(**origin).ok());
    ASSERT_TRUE(Change().put("after", "row", "v").commit(**origin).ok());
  }
};

TEST_P(CheckpointCrash, AtEveryStepLeavesTheOriginSoundAndTheTargetWholeOrNoStore) {
  Rows rows;
  Machine machine(1, test::OneThreadAtATime{}, filled_disk(&rows));
  io::SeededRandom picks(7);
  std::vector<Image> images;
  {
    const auto engine = open_filled(machine, &rows);
    bool made = false;
    machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
      const std::string where = std::string(io::operation_name(operation.kind)) + " " +
                                std::string(operation.directory) + "/" + std::string(operation.name) + " #" +
                                std::to_string(operation.index) + " moment " + std::to_string(static_cast<int>(moment));
      for (io::MemoryDisk& disk : machine.files->power_cuts(picks, 3)) {
        images.push_back({std::move(disk), made, where + ", power cut"});
      }
      images.push_back({machine.files->process_death(picks), made, where + ", kill"});
    });
    const auto result = engine->checkpoint(kCopyPath);
    made = true;
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    for (io::MemoryDisk& disk : machine.files->power_cuts(picks, 20)) images.push_back({std::move(disk), true, "end"});
    ASSERT_TRUE(engine->close().ok());
    machine.files->set_observer({});
  }
  std::set<Became> seen;
  for (std::size_t i = 0; i < images.size(); i += test::kStride) {
    Image& image = images[i];
    SCOPED_TRACE(image.where);
    Machine after(2, std::move(image.disk));
    std::string why;
    const Became found = became(after, rows, &why);
    ASSERT_NE(found, Became::kBroken) << why;
    ASSERT_TRUE(!image.made || found == Became::kWhole) << why;
    seen.insert(found);
    expect_origin_sound(after, rows);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(images.size(), 100u);
  EXPECT_EQ(seen.size(), 2u) << "there were images of both kinds";
}

TEST_P(CheckpointCrash, AnErrorAtEveryStepOfTheTargetIsToldAndLeavesTheOriginAtWork) {
  Rows rows;
  const io::MemoryDisk disk = filled_disk(&rows);
  int steps = 0;
  for (const Code code : {Code::kIoError, Code::kNoSpace, Code::kTooManyFiles}) {
    for (const bool from_then_on : {false, true}) {
      for (std::uint64_t n = 0;; ++n) {
        SCOPED_TRACE("step " + std::to_string(n) + (from_then_on ? " and all later ones" : ""));
        Machine machine(1, disk);
        const auto engine = open_filled(machine, &rows);
        io::FaultRule rule;
        rule.predicate = [](const io::Operation& operation) { return operation.directory == kCopyPath; };
        rule.skip_count = n;
        rule.fail_count = from_then_on ? io::FaultRule::kFromThenOn : 1;
        rule.code = code;
        const std::uint64_t hits = machine.files->faults().hit_count();
        machine.files->faults().add(rule);
        const auto made = engine->checkpoint(kCopyPath);
        const bool was_hit = machine.files->faults().hit_count() > hits + (GetParam() ? 0 : 4);
        machine.files->faults().clear();
        ASSERT_TRUE(Change().put("after", "row", "v").commit(*engine).ok()) << "the origin goes on";
        if (made.ok()) {
          // Only if every step was reached. Refused links of a copy count as hits too.
          std::string why;
          ASSERT_EQ(became(machine, rows, &why), Became::kWhole) << why;
          ASSERT_FALSE(was_hit);
          break;
        }
        ASSERT_EQ(made.code(), code) << made.status().to_string();
        ++steps;
        std::string why;
        ASSERT_NE(became(machine, rows, &why), Became::kBroken) << why;
        if (!from_then_on) {
          const auto again = engine->checkpoint("/second");
          ASSERT_TRUE(again.ok()) << again.status().to_string();
        }
      }
    }
  }
  EXPECT_GT(steps, 50);
}

TEST_P(CheckpointCrash, AFullDeviceIsToldAtEveryStepAndGivesAllOfItsRoomBack) {
  Rows rows;
  const io::MemoryDisk disk = filled_disk(&rows, false);
  int refused = 0;
  for (std::uint64_t room = 0;; room += io::kSectorBytes) {
    SCOPED_TRACE(room);
    Machine machine(1, disk);
    if (!GetParam()) forbid_links(machine);
    auto opened = machine.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const auto engine = *std::move(opened);
    await_spare_segment(*engine, disk);
    const std::uint64_t used = machine.files->used_bytes();
    machine.files->set_capacity_bytes(used + room);
    const auto made = engine->checkpoint(kCopyPath);
    std::string why;
    if (made.ok()) {
      machine.files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
      ASSERT_EQ(became(machine, rows, &why), Became::kWhole) << why;
      break;
    }
    ++refused;
    ASSERT_EQ(made.code(), Code::kNoSpace) << made.status().to_string();
    ASSERT_EQ(machine.files->snapshot().file_names(kCopyPath), std::vector<std::string>{std::string(kLockName)});
    ASSERT_EQ(machine.files->used_bytes(), used);
    ASSERT_EQ(engine->statistics().health, Health::kHealthy);
    machine.files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
    ASSERT_TRUE(engine->checkpoint(kCopyPath).ok()) << "the same directory, now that there is room";
    ASSERT_EQ(became(machine, rows, &why), Became::kWhole) << why;
  }
  EXPECT_GE(refused, 2);
}

TEST_P(CheckpointCrash, EverySyncIsNeeded) {
  Rows rows;
  const io::MemoryDisk disk = filled_disk(&rows);
  std::vector<io::SyncPoint> points{sync_points::kStoreDirectory, sync_points::kCheckpointNames,
                                    sync_points::kManifestCreate, sync_points::kRoot};
  if (!GetParam()) points.push_back(sync_points::kCheckpointCopy);
  for (const io::SyncPoint& point : points) {
    SCOPED_TRACE(point.name);
    Machine machine(1, disk);
    const auto engine = open_filled(machine, &rows);
    io::FaultRule rule;
    rule.predicate = [&point](const io::Operation& operation) {
      return operation.directory == kCopyPath && operation.sync_point == point.name;
    };
    rule.fail_count = io::FaultRule::kFromThenOn;
    rule.effect = io::FaultEffect::kSyncLeftOut;
    machine.files->faults().add(rule);
    ASSERT_TRUE(engine->checkpoint(kCopyPath).ok());
    io::SeededRandom picks(3);
    Machine after(2, machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, picks));
    std::string why;
    EXPECT_NE(became(after, rows, &why), Became::kWhole) << "without it the checkpoint survives a power cut";
  }
}

/// Returns a fault of one kind of step in the target's directory.
io::FaultRule fault_of_target(io::OperationKind kind, io::FaultEffect effect) {
  io::FaultRule rule;
  rule.kind = kind;
  rule.predicate = [](const io::Operation& operation) { return operation.directory == kCopyPath; };
  rule.effect = effect;
  return rule;
}

TEST_P(CheckpointCrash, GivenUpWithCurrentInDoubtItKeepsWhatCurrentLeadsTo) {
  Rows rows;
  Machine machine(1, filled_disk(&rows));
  const auto engine = open_filled(machine, &rows);
  machine.files->faults().add(
      fault_of_target(io::OperationKind::kReplaceDirectorySync, io::FaultEffect::kErrorAfterwards));
  io::SeededRandom picks(5);
  std::vector<Image> images;
  machine.files->set_observer([&](const io::Operation& operation, io::Moment) {
    if (operation.directory != kCopyPath) return;
    for (const io::CrashPolicy policy : io::kCrashPolicies) {
      images.push_back({machine.files->power_cut(policy, picks), false, std::string(io::crash_policy_name(policy))});
    }
  });
  EXPECT_FALSE(engine->checkpoint(kCopyPath).ok());
  machine.files->set_observer({});
  std::set<Became> seen;
  for (Image& image : images) {
    SCOPED_TRACE(image.where);
    Machine after(2, std::move(image.disk));
    std::string why;
    const Became found = became(after, rows, &why);
    ASSERT_NE(found, Became::kBroken) << why;
    seen.insert(found);
  }
  EXPECT_EQ(seen.size(), 2u) << "there were images of both kinds";
}

TEST_P(CheckpointCrash, GivenUpItLeavesNothingThatAPowerCutCouldBringBack) {
  Rows rows;
  Machine machine(1, filled_disk(&rows));
  const auto engine = open_filled(machine, &rows);
  machine.files->faults().add(fault_of_target(io::OperationKind::kReplaceWrite, io::FaultEffect::kError));
  EXPECT_FALSE(engine->checkpoint(kCopyPath).ok());
  io::SeededRandom picks(5);
  const io::MemoryDisk disk = machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, picks);
  EXPECT_EQ(disk.file_names(kCopyPath), std::vector<std::string>{std::string(kLockName)});
}

INSTANTIATE_TEST_SUITE_P(By, CheckpointCrash, testing::Bool(),
                         [](const auto& each) { return each.param ? "Links" : "Copies"; });

}  // namespace
}  // namespace varve::engine::checkpoint_crash_test
