// Goal: an acknowledged edit survives everything, and another edit is complete or absent. Numbers are used once. A
// failure of the manifest's file costs the file, not the store.
#include "engine/manifest/manifest.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "engine/recovery/establish.h"
#include "tests/support/store_image.h"

namespace varve::engine::manifest_test {
namespace {

using test::StoreMachine;

/// A new store with its manifest in use.
struct Made : StoreMachine {
  explicit Made(std::uint64_t seed = 1) : StoreMachine(io::MemoryDisk(), seed) {
    Result<Established> made = make_store(env, *directory, {});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    established = *std::move(made);
  }
  Manifest& manifest() { return *established.manifest; }
  void fail(io::OperationKind kind, std::uint64_t times = 1, Code code = Code::kIoError, std::string_view suffix = "") {
    io::FaultRule rule;
    rule.kind = kind;
    rule.fail_count = times;
    rule.code = code;
    rule.name_suffix = suffix;
    files.faults().add(rule);
  }
  std::vector<std::string> names() const { return files.snapshot().file_names(test::kImagePath); }
  /// Returns the files that a machine finds if it starts with the durable data of this moment.
  FileSet durable_files() {
    StoreMachine after(files.power_cut(io::CrashPolicy::kNothingUnsynced, random));
    const Result<Recovered> found = after.read();
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? found->files : FileSet();
  }
};

format::ManifestEdit with_dead_id(format::TableId id) {
  format::ManifestEdit edit;
  std::string prefix(8, '\0');
  prefix[7] = static_cast<char>(id);
  edit.added_dead_ids = {{prefix, 1, {}}};
  return edit;
}

TEST(Manifest, AnEditIsAppliedAndDurable) {
  Made store;
  const ManifestMark before = store.manifest().mark();
  ASSERT_TRUE(store.manifest().append(with_dead_id(1)).ok());
  EXPECT_EQ(store.manifest().files().dead_ids.size(), 1u);
  EXPECT_EQ(store.manifest().mark().number, before.number);
  EXPECT_GT(store.manifest().mark().durable_bytes, before.durable_bytes);
  EXPECT_EQ(store.manifest().size_bytes(), store.manifest().mark().durable_bytes);
  EXPECT_EQ(store.durable_files(), store.manifest().files());
}

TEST(Manifest, AnEditCrashedAtEveryStepIsThereWholeOrNotAtAll) {
  Made store;
  ASSERT_TRUE(store.manifest().append(with_dead_id(1)).ok());
  const FileSet before = store.manifest().files();
  std::vector<io::MemoryDisk> disks;
  store.files.set_observer([&](const io::Operation&, io::Moment) {
    for (io::MemoryDisk& disk : store.files.power_cuts(store.random, 30)) disks.push_back(std::move(disk));
    disks.push_back(store.files.process_death(store.random));
  });
  ASSERT_TRUE(store.manifest().append(with_dead_id(2)).ok());
  store.files.set_observer({});
  const FileSet after = store.manifest().files();
  EXPECT_GT(disks.size(), 10u);
  for (io::MemoryDisk& disk : disks) {
    StoreMachine machine(std::move(disk));
    const Result<Recovered> recovered = machine.read();
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    EXPECT_TRUE(recovered->files == before || recovered->files == after);
  }
}

TEST(Manifest, AFailedAppendIsMadeGoodByAFreshManifest) {
  for (const io::OperationKind kind : {io::OperationKind::kAppend, io::OperationKind::kSync}) {
    Made store;
    const std::uint64_t number = store.manifest().mark().number;
    store.fail(kind);
    const Status appended = store.manifest().append(with_dead_id(1));
    ASSERT_TRUE(appended.ok()) << appended.to_string();
    EXPECT_GT(store.manifest().mark().number, number);
    EXPECT_EQ(store.manifest().files().dead_ids.size(), 1u);
    EXPECT_EQ(store.durable_files(), store.manifest().files());
    const Result<std::uint64_t> next = store.manifest().next_file_number();
    ASSERT_TRUE(next.ok());
    EXPECT_GT(*next, store.manifest().mark().number);
    // The new manifest accepts edits.
    ASSERT_TRUE(store.manifest().append(with_dead_id(2)).ok());
    EXPECT_EQ(store.durable_files(), store.manifest().files());
  }
}

TEST(Manifest, EveryWayASyncCanFailKeepsTheEdit) {
  for (const io::FaultEffect effect :
       {io::FaultEffect::kError, io::FaultEffect::kErrorAfterwards, io::FaultEffect::kSyncFailsCacheKept,
        io::FaultEffect::kSyncFailsCacheReverted}) {
    SCOPED_TRACE(static_cast<int>(effect));
    Made store;
    io::FaultRule rule;
    rule.sync_point = "manifest append";
    rule.effect = effect;
    store.files.faults().add(rule);
    ASSERT_TRUE(store.manifest().append(with_dead_id(1)).ok());
    EXPECT_EQ(store.files.faults().hit_count(), 1u);
    EXPECT_EQ(store.durable_files().dead_ids.size(), 1u);
  }
}

TEST(Manifest, WhenTheFreshOneFailsTooEveryLaterCallAnswersThat) {
  Made store;
  const FileSet before = store.manifest().files();
  store.fail(io::OperationKind::kSync, io::FaultRule::kFromThenOn);
  const Status appended = store.manifest().append(with_dead_id(1));
  EXPECT_EQ(appended.code(), Code::kIoError);
  store.files.faults().clear();
  EXPECT_EQ(store.manifest().append(with_dead_id(2)).message(), appended.message());
  EXPECT_EQ(store.manifest().next_file_number().code(), Code::kIoError);
  EXPECT_EQ(store.manifest().finish(1'000).code(), Code::kIoError);
  EXPECT_EQ(store.manifest().files(), before);
  // The disk contains one of the two states.
  EXPECT_LE(store.durable_files().dead_ids.size(), 1u);
}

TEST(Manifest, AFailedSwitchOfCurrentIsTheEndToo) {
  for (const io::OperationKind kind : {io::OperationKind::kReplaceWrite, io::OperationKind::kReplaceSync,
                                       io::OperationKind::kReplaceRename, io::OperationKind::kReplaceDirectorySync}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Made store;
    store.fail(io::OperationKind::kAppend, 1, Code::kIoError);
    store.fail(kind);
    EXPECT_EQ(store.manifest().append(with_dead_id(1)).code(), Code::kIoError);
    EXPECT_EQ(store.manifest().append(with_dead_id(1)).code(), Code::kIoError);
    EXPECT_LE(store.durable_files().dead_ids.size(), 1u);
  }
}

TEST(Manifest, TheFailurePathCrashedAtEveryStepLeavesOneOfTheTwoSets) {
  Made store;
  const FileSet before = store.manifest().files();
  store.fail(io::OperationKind::kSync);
  std::vector<io::MemoryDisk> disks;
  store.files.set_observer([&](const io::Operation&, io::Moment) {
    for (io::MemoryDisk& disk : store.files.power_cuts(store.random, 20)) disks.push_back(std::move(disk));
  });
  ASSERT_TRUE(store.manifest().append(with_dead_id(1)).ok());
  store.files.set_observer({});
  EXPECT_GT(disks.size(), 20u);
  for (io::MemoryDisk& disk : disks) {
    StoreMachine machine(std::move(disk));
    const Result<Recovered> recovered = machine.read();
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    EXPECT_EQ(recovered->files.segments, before.segments);
    EXPECT_LE(recovered->files.dead_ids.size(), 1u);
  }
}

TEST(Manifest, WithoutRoomTheBallastIsGivenUpInParts) {
  constexpr std::uint64_t kParts = kBallastBytes / kBallastPartBytes;
  Made store;
  for (std::uint64_t edit = 1; edit <= kParts; ++edit) {
    // Other programs take what each edit leaves free.
    const std::uint64_t used = store.files.used_bytes();
    store.files.set_capacity_bytes(used);
    // The appended record needs no page of its own. The fault pretends that it does.
    store.fail(io::OperationKind::kAppend, 1, Code::kNoSpace);
    const Status appended = store.manifest().append(with_dead_id(edit));
    ASSERT_TRUE(appended.ok()) << edit << ": " << appended.to_string();
    EXPECT_LT(store.files.used_bytes(), used);
    EXPECT_GT(store.files.used_bytes(), used - kBallastPartBytes);
  }
  EXPECT_EQ(store.durable_files().dead_ids.size(), kParts);
}

TEST(Manifest, WhatAStepLeavesOfTheBallastIsHeldAgain) {
  Made store;
  const std::uint64_t used = store.files.used_bytes();
  store.fail(io::OperationKind::kAppend, 1, Code::kNoSpace);
  store.fail(io::OperationKind::kCreate, 4, Code::kNoSpace, "MANIFEST-000004");
  std::uint64_t least = used;
  store.files.set_observer([&](const io::Operation& operation, io::Moment) {
    if (operation.kind == io::OperationKind::kCreate) least = std::min(least, store.files.used_bytes());
  });
  const Status appended = store.manifest().append(with_dead_id(1));
  store.files.set_observer({});
  ASSERT_TRUE(appended.ok()) << appended.to_string();
  EXPECT_LE(least, used - 4 * kBallastPartBytes);
  EXPECT_GT(store.files.used_bytes(), used);
}

TEST(Manifest, HalfOfTheBallastIsLentAndTakenBack) {
  Made store;
  const std::uint64_t used = store.files.used_bytes();
  for (std::uint64_t part = 0; part < kBallastBytes / kBallastPartBytes; ++part) store.manifest().ballast().lend();
  EXPECT_EQ(store.files.used_bytes(), used - kBallastBytes / 2);
  // There is room for one part.
  store.files.set_capacity_bytes(used - kBallastBytes / 2 + kBallastPartBytes);
  store.manifest().ballast().take_back();
  EXPECT_EQ(store.files.used_bytes(), used - kBallastBytes / 2 + kBallastPartBytes);
  store.files.set_capacity_bytes(used);
  store.manifest().ballast().take_back();
  EXPECT_EQ(store.files.used_bytes(), used);
}

TEST(Manifest, WithRoomAFailedAppendTakesNothingOfTheBallast) {
  Made store;
  const std::uint64_t used = store.files.used_bytes();
  store.fail(io::OperationKind::kAppend, 1, Code::kNoSpace);
  const Status appended = store.manifest().append(with_dead_id(1));
  ASSERT_TRUE(appended.ok()) << appended.to_string();
  EXPECT_GT(store.files.used_bytes(), used);
}

TEST(Manifest, NumbersAreGivenOnceAndBelowADurableCeiling) {
  Made store;
  std::set<std::uint64_t> given;
  for (std::uint64_t count = 0; count < 2 * kNumberStep + 10; ++count) {
    const Result<std::uint64_t> number = store.manifest().next_file_number();
    ASSERT_TRUE(number.ok()) << number.status().to_string();
    EXPECT_TRUE(given.insert(*number).second);
    EXPECT_GT(*number, kNumberMaxOfMaking);
    if (count % 250 == 0 || count % kNumberStep > kNumberStep - 5 || count % kNumberStep < 5) {
      EXPECT_LT(*number, store.durable_files().file_number_ceiling);
    }
  }
}

TEST(Manifest, ANumberWhoseCeilingCannotBeRecordedIsNotGiven) {
  Made store;
  for (std::uint64_t count = 0; count < kNumberStep; ++count) ASSERT_TRUE(store.manifest().next_file_number().ok());
  store.fail(io::OperationKind::kSync, io::FaultRule::kFromThenOn);
  EXPECT_EQ(store.manifest().next_file_number().code(), Code::kIoError);
}

TEST(Manifest, ALongOneIsBegunAfresh) {
  Made store;
  const std::uint64_t number = store.manifest().mark().number;
  format::ManifestEdit edit;
  std::uint64_t appended = 0;
  while (store.manifest().mark().number == number) {
    // Long edits that leave the set unchanged: a tag replaces the one before it.
    edit.commit_tag = format::CommitTag{++appended, std::string(1024, 't'), {}};
    ASSERT_TRUE(store.manifest().append(edit).ok());
    ASSERT_LE(store.manifest().size_bytes(), kManifestBytesKept + 2000);
    ASSERT_LT(appended, 10'000u);
  }
  EXPECT_LT(store.manifest().size_bytes(), 4096u);
  EXPECT_EQ(store.durable_files(), store.manifest().files());
  EXPECT_EQ(store.manifest().files().commit_tag->version, appended);
  ASSERT_TRUE(store.manifest().append(with_dead_id(1)).ok());
  EXPECT_EQ(store.durable_files(), store.manifest().files());
}

TEST(Manifest, ALongOneThatCannotBeBegunAfreshGoesOn) {
  Made store;
  const std::uint64_t number = store.manifest().mark().number;
  store.fail(io::OperationKind::kCreate, 1, Code::kNoSpace, "MANIFEST-000004");
  format::ManifestEdit edit;
  for (std::uint64_t appended = 1; appended < kManifestBytesKept / 1024 + 100; ++appended) {
    edit.commit_tag = format::CommitTag{appended, std::string(1024, 't'), {}};
    ASSERT_TRUE(store.manifest().append(edit).ok());
  }
  EXPECT_EQ(store.files.faults().hit_count(), 1u);
  EXPECT_EQ(store.manifest().mark().number, number);
  EXPECT_GT(store.manifest().size_bytes(), kManifestBytesKept);
  EXPECT_EQ(store.durable_files(), store.manifest().files());
}

// -- The end ----------------------------------------------------------------------------------------------------------

/// Removes the unused first segment, like a clean close.
void let_go_of_segment(Made& store) {
  format::ManifestEdit edit;
  edit.removed_segments = {store.established.segment.number};
  ASSERT_TRUE(store.manifest().append(edit).ok());
}

TEST(Manifest, FinishedItIsCleanAndHoldsNoMoreThanItNeeds) {
  Made store;
  let_go_of_segment(store);
  const Result<std::uint64_t> number = store.manifest().next_file_number();
  ASSERT_TRUE(number.ok());
  const Status finished = store.manifest().finish(1'234);
  ASSERT_TRUE(finished.ok()) << finished.to_string();
  EXPECT_EQ(store.names(), (std::vector<std::string>{"CURRENT", "MANIFEST-000003"}));

  StoreMachine after(store.files.power_cut(io::CrashPolicy::kNothingUnsynced, store.random));
  const Result<Recovered> recovered = after.read();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_TRUE(recovered->clean);
  EXPECT_TRUE(recovered->figures.clean);
  EXPECT_EQ(recovered->version_ceiling, 1'234u);
  EXPECT_EQ(recovered->files.file_number_ceiling, *number + 1);
  EXPECT_FALSE(recovered->files.log_buffer.has_value());
  EXPECT_EQ(store.manifest().append(with_dead_id(1)).code(), Code::kClosed);
  EXPECT_EQ(store.manifest().next_file_number().code(), Code::kClosed);
  EXPECT_EQ(store.manifest().finish(1'234).code(), Code::kClosed);
}

/// Closes the first segment, and says that tables have all its commits.
void flush_segment(Made& store, CommitVersion last_version) {
  format::ManifestEdit edit;
  edit.closed_segments = {{store.established.segment.number, 8192, last_version, {}}};
  edit.flushed_version = last_version;
  ASSERT_TRUE(store.manifest().append(edit).ok());
}

TEST(Manifest, FinishingRemovesSegmentsWhoseCommitsAreInTables) {
  Made store;
  flush_segment(store, 5);
  const Status finished = store.manifest().finish(1'234);
  ASSERT_TRUE(finished.ok()) << finished.to_string();
  EXPECT_EQ(store.names(), (std::vector<std::string>{"CURRENT", "MANIFEST-000003"}));
  const Result<Recovered> recovered = store.read();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_TRUE(recovered->clean);
  EXPECT_TRUE(recovered->files.segments.empty());
}

TEST(Manifest, AFinishThatCrashesWithoutSegmentsKeepsTheCeilingOfTheirReaders) {
  Made store;
  flush_segment(store, 5);
  std::vector<io::MemoryDisk> disks;
  store.files.set_observer([&](const io::Operation&, io::Moment) {
    for (io::MemoryDisk& disk : store.files.power_cuts(store.random, 20)) disks.push_back(std::move(disk));
  });
  ASSERT_TRUE(store.manifest().finish(1'234).ok());
  store.files.set_observer({});
  int crashed = 0;
  for (io::MemoryDisk& disk : disks) {
    StoreMachine machine(std::move(disk));
    const Result<Recovered> recovered = machine.read();
    if (!recovered.ok() || recovered->clean) continue;  // In this test the segment was never really sealed.
    EXPECT_GE(recovered->version_ceiling, 1'234u);
    ++crashed;
  }
  EXPECT_GT(crashed, 0);
}

TEST(Manifest, FinishingNeverLowersTheVersionCeiling) {
  Made store;
  let_go_of_segment(store);
  format::ManifestEdit edit;
  edit.version_ceiling = 9'000;
  ASSERT_TRUE(store.manifest().append(edit).ok());
  ASSERT_TRUE(store.manifest().finish(10).ok());
  EXPECT_EQ((*store.read()).version_ceiling, 9'000u);
}

TEST(Manifest, FinishingCrashedAtEveryStepLeavesAStore) {
  Made store;
  let_go_of_segment(store);
  std::vector<io::MemoryDisk> disks;
  store.files.set_observer([&](const io::Operation&, io::Moment) {
    for (io::MemoryDisk& disk : store.files.power_cuts(store.random, 20)) disks.push_back(std::move(disk));
  });
  ASSERT_TRUE(store.manifest().finish(10).ok());
  store.files.set_observer({});
  bool open_seen = false;
  bool clean_seen = false;
  for (io::MemoryDisk& disk : disks) {
    StoreMachine machine(std::move(disk));
    const Status opened = machine.open();
    ASSERT_TRUE(opened.ok()) << opened.to_string();
    open_seen = open_seen || !machine.recovered.clean;
    clean_seen = clean_seen || machine.recovered.clean;
  }
  EXPECT_TRUE(open_seen);
  EXPECT_TRUE(clean_seen);
}

TEST(Manifest, FinishingVouchesForNothingItCannotReadBack) {
  {
    Made store;
    let_go_of_segment(store);
    store.files.change_disk([](io::MemoryDisk& disk) {
      ASSERT_TRUE(disk.flip_bit(test::path_of("MANIFEST-000003"), 70, std::byte{1}).ok());
    });
    EXPECT_EQ(store.manifest().finish(10).code(), Code::kCorruption);
  }
  {
    Made store;
    let_go_of_segment(store);
    store.fail(io::OperationKind::kRead, 1, Code::kIoError, "MANIFEST-000003");
    EXPECT_EQ(store.manifest().finish(10).code(), Code::kIoError);
    EXPECT_FALSE((*store.read()).clean);
  }
}

TEST(Manifest, EveryErrorWhileFinishingIsToldAndLeavesAStore) {
  for (std::uint64_t nth = 0;; ++nth) {
    SCOPED_TRACE(nth);
    Made store;
    let_go_of_segment(store);
    io::FaultRule rule;
    rule.mutating_only = true;
    rule.skip_count = nth;
    store.files.faults().add(rule);
    const Status finished = store.manifest().finish(10);
    const bool hit = store.files.faults().hit_count() > 0;
    store.files.faults().clear();
    StoreMachine after(store.files.power_cut(io::CrashPolicy::kEverything, store.random));
    const Status opened = after.open();
    ASSERT_TRUE(opened.ok()) << opened.to_string();
    if (!hit) {
      EXPECT_TRUE(finished.ok());
      break;
    }
    ASSERT_LT(nth, 100u);
  }
}

}  // namespace
}  // namespace varve::engine::manifest_test
