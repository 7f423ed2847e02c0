// Faults by rule: the operations that a rule matches, and the effect of each fault on the cache and on the device.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/fault_plan.h"
#include "tests/io/simulated/memory_test_support.h"

namespace varve::io::memory_fault_test {
namespace {

using Texts = std::set<std::string>;

FaultRule rule(OperationKind kind, FaultEffect effect) {
  FaultRule made;
  made.kind = kind;
  made.effect = effect;
  return made;
}

/// The bytes that a process reads from /store/a, the bytes of the device, and all possible results of a power cut.
struct View {
  std::string cached;
  std::string direct;
  Texts after_power_cut;
};

View view(MemoryMachine& machine) {
  const Result<Bytes> cached = read_whole(machine.store(), "a", ReadMode::kCached);
  const Result<Bytes> direct = read_whole(machine.store(), "a", ReadMode::kDirect);
  EXPECT_TRUE(is_ok(cached));
  EXPECT_TRUE(is_ok(direct));
  View seen{text_of(*cached), text_of(*direct), {}};
  const MemoryDisk disk = machine.files().snapshot();
  for (const CrashPolicy policy : {CrashPolicy::kNothingUnsynced, CrashPolicy::kEverything}) {
    seen.after_power_cut.merge(outcomes(disk, policy, file_text("/store/a"), 1));
  }
  return seen;
}

/// The durable file a, "old", with "new" appended and not synced.
class MemoryFault : public testing::Test {
 protected:
  void SetUp() override {
    file_ = machine_.create("a");
    ASSERT_TRUE(is_ok(file_->append(bytes_of("old"))));
    ASSERT_TRUE(is_ok(file_->sync(kTestPoint)));
    ASSERT_TRUE(is_ok(machine_.store().sync(kTestPoint)));
  }

  Status append_and_sync() {
    if (Status appended = file_->append(bytes_of("new")); !appended.ok()) return appended;
    return file_->sync(kTestPoint);
  }

  MemoryMachine machine_;
  FaultPlan& faults_ = machine_.files().faults();
  std::unique_ptr<WritableFile> file_;
};

// -- Which operations -------------------------------------------------------------------------------------------------

TEST(FaultPlan, ARuleCatchesByKindNameSuffixSyncPointAndPredicate) {
  Operation operation;
  operation.kind = OperationKind::kLogWrite;
  operation.directory = "/store";
  operation.name = "000001.wal";
  operation.sync_point = "group";
  operation.size_bytes = 4096;
  const auto catches = [&](const FaultRule& tried) {
    FaultPlan plan;
    plan.add(tried);
    return plan.match(operation).has_value();
  };
  FaultRule all;
  EXPECT_TRUE(catches(all));
  FaultRule tried = all;
  tried.kind = OperationKind::kLogWrite;
  EXPECT_TRUE(catches(tried));
  tried.kind = OperationKind::kSync;
  EXPECT_FALSE(catches(tried));
  tried = all;
  tried.name_suffix = ".wal";
  EXPECT_TRUE(catches(tried));
  tried.name_suffix = ".sst";
  EXPECT_FALSE(catches(tried));
  tried = all;
  tried.sync_point = "group";
  EXPECT_TRUE(catches(tried));
  tried.sync_point = "grou";
  EXPECT_FALSE(catches(tried));
  tried = all;
  tried.predicate = [](const Operation& shown) { return shown.size_bytes == 4096; };
  EXPECT_TRUE(catches(tried));
  tried.predicate = [](const Operation& shown) { return shown.size_bytes == 1; };
  EXPECT_FALSE(catches(tried));
  tried = all;
  tried.mutating_only = true;
  EXPECT_TRUE(catches(tried));
  operation.kind = OperationKind::kRead;
  EXPECT_FALSE(catches(tried));
}

TEST(FaultPlan, SkipsAndFailsAsManyAsTheRuleSays) {
  FaultPlan plan;
  FaultRule some;
  some.skip_count = 2;
  some.fail_count = 3;
  some.code = Code::kNoSpace;
  some.reason = "No space left on device";
  plan.add(some);
  Operation operation;
  operation.kind = OperationKind::kAppend;
  operation.directory = "/store";
  operation.name = "a";
  std::string seen;
  for (int i = 0; i < 8; ++i) {
    const std::optional<Fault> fault = plan.match(operation);
    seen.push_back(fault.has_value() ? 'x' : '.');
    if (fault.has_value()) {
      EXPECT_TRUE(fails_with(fault->status, Code::kNoSpace, "/store/a: Append: No space left"));
    }
  }
  EXPECT_EQ(seen, "..xxx...");
  EXPECT_EQ(plan.hit_count(), 3U);
  plan.fail_nth(1, Code::kIoError, true);
  seen.clear();
  for (int i = 0; i < 4; ++i) seen.push_back(plan.match(operation).has_value() ? 'x' : '.');
  EXPECT_EQ(seen, ".xxx");
  plan.clear();
  EXPECT_FALSE(plan.match(operation).has_value());
}

/// Makes every call of a small program, and returns its outcome.
Status small_life(MemoryMachine& machine) {
  Result<std::unique_ptr<DirectoryLock>> lock =
      machine.store().lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(0));
  if (!lock.ok()) return lock.status();
  if (Status written = write_whole(machine.store(), "a", bytes_of("x")); !written.ok()) return written;
  Result<std::unique_ptr<LogSegment>> segment = machine.store().create_log_segment("1.wal", 2 * kSectorBytes);
  if (!segment.ok()) return segment.status();
  if (Status filled = (*segment)->fill(); !filled.ok()) return filled;
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  if (Status written = (*segment)->write(0, record.bytes(), kTestPoint); !written.ok()) return written;
  if (Status cut = (*segment)->cut(kSectorBytes, kTestPoint); !cut.ok()) return cut;
  if (auto memory = machine.store().create_shared_memory("s", kSectorBytes); !memory.ok()) return memory.status();
  if (Status set = machine.store().set_ballast("b", kSectorBytes); !set.ok()) return set;
  if (Status synced = machine.store().sync(kTestPoint); !synced.ok()) return synced;
  if (Status replaced = machine.store().replace("CURRENT", {}, bytes_of("r"), kTestPoint); !replaced.ok()) {
    return replaced;
  }
  if (Status made = machine.files().create_directory("/store/sub", kTestPoint); !made.ok()) return made;
  Result<std::unique_ptr<Directory>> sub = machine.files().open_directory("/store/sub");
  if (!sub.ok()) return sub.status();
  if (Status linked = machine.store().link("a", **sub); !linked.ok()) return linked;
  if (auto listed = machine.store().list(); !listed.ok()) return listed.status();
  if (auto read = read_whole(machine.store(), "a"); !read.ok()) return read.status();
  return machine.store().remove("a");
}

TEST(MemoryFaults, EveryOperationCanFailWithItsCodeAndPath) {
  for (const Code code : {Code::kIoError, Code::kNoSpace, Code::kTooManyFiles, Code::kReadOnly}) {
    std::uint64_t n = 0;
    for (;; ++n) {
      SCOPED_TRACE(n);
      MemoryMachine machine;
      machine.files().faults().fail_nth(n, code);
      const Status outcome = small_life(machine);
      if (outcome.ok()) break;
      EXPECT_TRUE(fails_with(outcome, code, "/store"));
      EXPECT_EQ(machine.files().faults().hit_count(), 1U);
    }
    EXPECT_EQ(n, 24U) << "the steps of small_life()";
  }
}

TEST(MemoryFaults, FailedMakingLeavesNoFile) {
  for (const FaultEffect effect : {FaultEffect::kError, FaultEffect::kShortThenError, FaultEffect::kErrorAfterwards}) {
    MemoryMachine machine;
    machine.files().faults().add(rule(OperationKind::kCreateLogSegment, effect));
    machine.files().faults().add(rule(OperationKind::kCreateSharedMemory, effect));
    EXPECT_TRUE(fails_with(machine.store().create_log_segment("1.wal", kSectorBytes), Code::kIoError));
    EXPECT_TRUE(fails_with(machine.store().create_shared_memory("s", kSectorBytes), Code::kIoError));
    EXPECT_TRUE(names_in(machine.store()).empty());
  }
}

// -- Writes -----------------------------------------------------------------------------------------------------------

TEST_F(MemoryFault, AnErrorDoesNothingAndPoisonsTheHandle) {
  faults_.add(rule(OperationKind::kAppend, FaultEffect::kError));
  const Status failed = file_->append(bytes_of("new"));
  EXPECT_TRUE(fails_with(failed, Code::kIoError, "/store/a: Append: Input/output error"));
  EXPECT_EQ(file_->append(bytes_of("more")).message(), failed.message());
  EXPECT_EQ(file_->sync(kTestPoint).message(), failed.message());
  EXPECT_EQ(faults_.hit_count(), 1U);
  EXPECT_EQ(view(machine_).cached, "old");
}

TEST_F(MemoryFault, AShortWriteLeavesAPart) {
  faults_.add(rule(OperationKind::kAppend, FaultEffect::kShortThenError));
  EXPECT_TRUE(fails_with(file_->append(bytes_of("new!")), Code::kIoError));
  EXPECT_EQ(view(machine_).cached, "oldne");
  EXPECT_EQ(view(machine_).after_power_cut, (Texts{"old", "oldne"}));
}

TEST_F(MemoryFault, AnErrorAfterwardsHasDoneAll) {
  faults_.add(rule(OperationKind::kSync, FaultEffect::kErrorAfterwards));
  EXPECT_TRUE(fails_with(append_and_sync(), Code::kIoError));
  EXPECT_EQ(view(machine_).after_power_cut, Texts{"oldnew"});
}

TEST_F(MemoryFault, ALostWriteNeverReachesTheDevice) {
  faults_.add(rule(OperationKind::kAppend, FaultEffect::kLostWrite));
  EXPECT_TRUE(is_ok(append_and_sync()));
  const std::string without("old\0\0\0", 6);
  EXPECT_EQ(view(machine_).after_power_cut, Texts{without});
  EXPECT_EQ(view(machine_).direct, without);
}

TEST_F(MemoryFault, AMisdirectedWriteReachesTheDeviceAPageFromItsPlace) {
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  const std::unique_ptr<LogSegment> segment = machine_.create_segment("1.wal", 3 * kSectorBytes);
  ASSERT_TRUE(is_ok(machine_.store().sync(kTestPoint)));
  faults_.add(rule(OperationKind::kLogWrite, FaultEffect::kMisdirectedWrite));
  ASSERT_TRUE(is_ok(segment->write(2 * kSectorBytes, record.bytes(), kTestPoint)));
  const Result<Bytes> after = machine_.files().snapshot().read_file("/store/1.wal");
  ASSERT_TRUE(is_ok(after));
  EXPECT_TRUE(std::equal(record.bytes().begin(), record.bytes().end(), after->begin() + kSectorBytes));
  EXPECT_EQ(text_of(Bytes(after->begin() + 2 * kSectorBytes, after->end())), std::string(kSectorBytes, '\0'));
}

TEST_F(MemoryFault, ADelayedStepIsDoneInTheEnd) {
  faults_.add(rule(OperationKind::kSync, FaultEffect::kDelay));
  EXPECT_TRUE(is_ok(append_and_sync()));
  EXPECT_EQ(view(machine_).after_power_cut, Texts{"oldnew"});
}

TEST_F(MemoryFault, LogWritesFailShortLateAndLost) {
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  const std::string whole = text_of(Bytes(record.bytes().begin(), record.bytes().end()));
  const std::string none(kSectorBytes, '\0');
  const std::string half = whole.substr(0, kSectorBytes / 2) + std::string(kSectorBytes / 2, '\0');
  struct Case {
    FaultEffect effect;
    bool is_error;
    std::string cached;
    Texts after_power_cut;
  };
  const Case cases[] = {
      {FaultEffect::kError, true, none, {none}},
      {FaultEffect::kShortThenError, true, half, {none, half}},
      {FaultEffect::kErrorAfterwards, true, whole, {whole}},
      {FaultEffect::kLostWrite, false, none, {none}},
      {FaultEffect::kSyncLeftOut, false, whole, {none, whole}},
      {FaultEffect::kSyncFailsCacheKept, true, whole, {none}},
      {FaultEffect::kSyncFailsCacheReverted, true, none, {none}},
      {FaultEffect::kSyncErrorConsumed, false, whole, {none}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(static_cast<int>(each.effect));
    MemoryMachine machine;
    const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 2 * kSectorBytes);
    ASSERT_TRUE(is_ok(segment->write(kSectorBytes, record.bytes(), kTestPoint)));
    ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
    machine.files().faults().add(rule(OperationKind::kLogWrite, each.effect));
    const Status written = segment->write(0, record.bytes(), kTestPoint);
    EXPECT_EQ(written.ok(), !each.is_error) << written.to_string();
    if (each.is_error) {
      EXPECT_EQ(segment->write(0, record.bytes(), kTestPoint).message(), written.message());
    }
    const MemoryDisk disk = machine.files().snapshot();
    EXPECT_TRUE(text_in(disk, "/store/1.wal") == each.cached + whole);
    Texts cut;
    for (const MemoryDisk& image : subset_images(disk)) cut.insert(text_in(image, "/store/1.wal").substr(0, 4096));
    EXPECT_TRUE(cut == each.after_power_cut);
  }
}

// -- Syncs ------------------------------------------------------------------------------------------------------------

TEST_F(MemoryFault, ASyncThatFailsCanLeaveACacheThatLies) {
  faults_.add(rule(OperationKind::kSync, FaultEffect::kSyncFailsCacheKept));
  EXPECT_TRUE(fails_with(append_and_sync(), Code::kIoError));
  const View seen = view(machine_);
  EXPECT_EQ(seen.cached, "oldnew");
  EXPECT_EQ(seen.direct, "old");
  EXPECT_EQ(seen.after_power_cut, Texts{"old"});
  SeededRandom random(1);
  EXPECT_EQ(text_in(machine_.files().process_death(random), "/store/a"), "oldnew");
}

TEST_F(MemoryFault, ASyncThatFailsCanRevertTheCache) {
  faults_.add(rule(OperationKind::kSync, FaultEffect::kSyncFailsCacheReverted));
  EXPECT_TRUE(fails_with(append_and_sync(), Code::kIoError));
  EXPECT_EQ(view(machine_).cached, "old");
  EXPECT_EQ(view(machine_).after_power_cut, Texts{"old"});
}

TEST_F(MemoryFault, ASyncErrorCanArriveLateAndOnce) {
  faults_.add(rule(OperationKind::kSync, FaultEffect::kSyncErrorLate));
  EXPECT_TRUE(is_ok(append_and_sync()));
  EXPECT_EQ(view(machine_).after_power_cut, Texts{"old"});
  EXPECT_TRUE(fails_with(file_->sync(kTestPoint), Code::kIoError, "/store/a: Sync"));
  EXPECT_TRUE(fails_with(file_->sync(kTestPoint), Code::kIoError)) << "the handle remembers";
}

TEST_F(MemoryFault, ASyncErrorCanBeConsumedElsewhere) {
  faults_.add(rule(OperationKind::kSync, FaultEffect::kSyncErrorConsumed));
  EXPECT_TRUE(is_ok(append_and_sync()));
  EXPECT_TRUE(is_ok(file_->sync(kTestPoint)));
  EXPECT_EQ(view(machine_).cached, "oldnew");
  EXPECT_EQ(view(machine_).after_power_cut, Texts{"old"});
}

TEST_F(MemoryFault, ASyncThatIsLeftOutIsMadeGoodByTheNext) {
  faults_.add(rule(OperationKind::kSync, FaultEffect::kSyncLeftOut));
  EXPECT_TRUE(is_ok(append_and_sync()));
  EXPECT_EQ(view(machine_).after_power_cut, (Texts{"old", "oldnew"}));
  EXPECT_TRUE(is_ok(file_->sync(kTestPoint)));
  EXPECT_EQ(view(machine_).after_power_cut, Texts{"oldnew"});
}

TEST_F(MemoryFault, DirectorySyncsFailInTheSameForms) {
  struct Case {
    FaultEffect effect;
    bool is_error;
    Texts cached;
    Texts after_power_cut;
  };
  const Case cases[] = {
      {FaultEffect::kError, true, {""}, {"<absent>", ""}},
      {FaultEffect::kSyncFailsCacheKept, true, {""}, {"<absent>"}},
      {FaultEffect::kSyncFailsCacheReverted, true, {"<absent>"}, {"<absent>"}},
      {FaultEffect::kSyncErrorLate, false, {""}, {"<absent>"}},
      {FaultEffect::kSyncErrorConsumed, false, {""}, {"<absent>"}},
      {FaultEffect::kSyncLeftOut, false, {""}, {"<absent>", ""}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(static_cast<int>(each.effect));
    MemoryMachine machine;
    (void)machine.create("b");
    machine.files().faults().add(rule(OperationKind::kDirectorySync, each.effect));
    EXPECT_EQ(machine.store().sync(kTestPoint).ok(), !each.is_error);
    const MemoryDisk disk = machine.files().snapshot();
    EXPECT_EQ(Texts{text_in(disk, "/store/b")}, each.cached);
    EXPECT_EQ(outcomes(disk, CrashPolicy::kDirectoryDropped, file_text("/store/b")), each.after_power_cut);
    const bool comes_later = each.effect == FaultEffect::kSyncErrorLate;
    EXPECT_EQ(machine.store().sync(kTestPoint).ok(), !each.is_error && !comes_later);
  }
}

TEST(MemoryFaults, ReplaceSurvivesAFailureOfEachStep) {
  const OperationKind steps[] = {OperationKind::kReplaceWrite, OperationKind::kReplaceSync,
                                 OperationKind::kReplaceRename, OperationKind::kReplaceDirectorySync};
  for (const OperationKind step : steps) {
    for (const FaultEffect effect :
         {FaultEffect::kError, FaultEffect::kShortThenError, FaultEffect::kErrorAfterwards}) {
      SCOPED_TRACE(std::string(operation_name(step)) + " " + std::to_string(static_cast<int>(effect)));
      MemoryMachine machine;
      ASSERT_TRUE(is_ok(machine.store().replace("CURRENT", {}, bytes_of("old"), kTestPoint)));
      machine.files().faults().add(rule(step, effect));
      EXPECT_TRUE(
          fails_with(machine.store().replace("CURRENT", bytes_of("old"), bytes_of("new"), kTestPoint), Code::kIoError));
      const MemoryDisk disk = machine.files().snapshot();
      for (const CrashPolicy policy : kCrashPolicies) {
        for (const std::string& text : outcomes(disk, policy, file_text("/store/CURRENT"), 20)) {
          EXPECT_TRUE(text == "old" || text == "new") << text;
        }
      }
    }
  }
}

// If the syncs of a replace are left out, a power cut can empty the file. A test of the store must find this.
TEST(MemoryFaults, AReplaceWithoutItsSyncsIsNotAtomic) {
  MemoryMachine machine;
  ASSERT_TRUE(is_ok(machine.store().replace("CURRENT", {}, bytes_of("old"), kTestPoint)));
  machine.files().faults().add(rule(OperationKind::kReplaceSync, FaultEffect::kSyncLeftOut));
  ASSERT_TRUE(is_ok(machine.store().replace("CURRENT", bytes_of("old"), bytes_of("new"), kTestPoint)));
  EXPECT_TRUE(
      outcomes(machine.files().snapshot(), CrashPolicy::kRandomPages, file_text("/store/CURRENT")).contains(""));
}

// -- Reads ------------------------------------------------------------------------------------------------------------

TEST_F(MemoryFault, ReadsFailOrFlipABitOnceOrForGood) {
  Result<std::unique_ptr<ReadableFile>> file = machine_.store().open("a", ReadMode::kCached);
  ASSERT_TRUE(is_ok(file));
  Bytes bytes(3);
  faults_.add(rule(OperationKind::kRead, FaultEffect::kError));
  EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kIoError, "/store/a: Read"));
  ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes))) << "a reader is not poisoned";
  EXPECT_EQ(text_of(bytes), "old");

  faults_.add(rule(OperationKind::kRead, FaultEffect::kFlipBitOnce));
  ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(text_of(bytes), "o|d");
  ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(text_of(bytes), "old");

  faults_.add(rule(OperationKind::kRead, FaultEffect::kFlipBitPersistently));
  ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(text_of(bytes), "o|d");
  ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(text_of(bytes), "o|d");
  EXPECT_EQ(view(machine_).after_power_cut, Texts{"o|d"});
}

TEST_F(MemoryFault, AStaleReadAnswersWhatStoodThereBeforeTheFirstWrite) {
  const Result<std::unique_ptr<ReadableFile>> file = machine_.store().open("a", ReadMode::kCached);
  ASSERT_TRUE(is_ok(file));
  Bytes bytes(3);
  faults_.add(rule(OperationKind::kRead, FaultEffect::kStaleRead));
  ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(text_of(bytes), std::string(3, '\0'));
  ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(text_of(bytes), "old");
}

// -- A device that does not answer ----------------------------------------------------------------------------------

TEST_F(MemoryFault, AWriteThatIsStuckIsInFlightUntilItIsLetGo) {
  faults_.add(rule(OperationKind::kAppend, FaultEffect::kNever));
  Scheduler scheduler;
  Status appended = Status::not_found("nothing yet");
  Result<Thread> thread = scheduler.start("stuck", [&] { appended = file_->append(bytes_of("new")); });
  ASSERT_TRUE(is_ok(thread));
  machine_.files().await_stuck(1);
  const View during = view(machine_);
  EXPECT_EQ(during.cached, "old");
  EXPECT_EQ(during.after_power_cut, (Texts{"old", "oldnew"})) << "the device may have got it";
  machine_.files().let_go();
  thread->join();
  ASSERT_TRUE(is_ok(appended));
  EXPECT_EQ(machine_.files().stuck_count(), 0U);
  EXPECT_EQ(view(machine_).cached, "oldnew");
  EXPECT_TRUE(is_ok(file_->sync(kTestPoint))) << "the rule was for one step";
}

TEST_F(MemoryFault, AReadThatIsStuckEndsWithTheAnswerOfItsEnd) {
  const Result<std::unique_ptr<ReadableFile>> file = machine_.store().open("a", ReadMode::kCached);
  ASSERT_TRUE(is_ok(file));
  faults_.add(rule(OperationKind::kRead, FaultEffect::kNever));
  Scheduler scheduler;
  Bytes bytes(3);
  Status read = Status::not_found("nothing yet");
  Result<Thread> thread = scheduler.start("stuck", [&] { read = (*file)->read_exactly(0, bytes); });
  ASSERT_TRUE(is_ok(thread));
  machine_.files().await_stuck(1);
  machine_.files().change_disk([](MemoryDisk& disk) { (void)disk.flip_bit("/store/a", 0, std::byte{0x20}).ok(); });
  machine_.files().let_go();
  thread->join();
  ASSERT_TRUE(is_ok(read));
  EXPECT_EQ(text_of(bytes), "Old");
}

}  // namespace
}  // namespace varve::io::memory_fault_test
