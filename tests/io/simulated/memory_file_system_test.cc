// The in-memory file system beyond the contract of all implementations: steps and their observers, locks that can be
// lost, limited room, concurrent threads.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/seeded_scheduler.h"
#include "tests/io/simulated/memory_test_support.h"

namespace varve::io::memory_file_system_test {
namespace {

using std::chrono::milliseconds;

/// Returns the file's text if the power failed now and no data survived without a sync.
std::string durable_text(MemoryMachine& machine, std::string_view path) {
  SeededRandom random(1);
  return text_in(machine.files().power_cut(CrashPolicy::kNothingUnsynced, random), path);
}

// -- Strictness -------------------------------------------------------------------------------------------------------

TEST(MemoryFileSystem, ReplaceMakesNoOtherNameDurable) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->sync(kTestPoint)));
  ASSERT_TRUE(is_ok(machine.store().replace("CURRENT", {}, bytes_of("root"), kTestPoint)));
  EXPECT_EQ(durable_text(machine, "/store/CURRENT"), "root");
  EXPECT_EQ(durable_text(machine, "/store/a"), "<absent>");
  EXPECT_FALSE(machine.files().snapshot().contains("/store/CURRENT.tmp"));
}

TEST(MemoryFileSystem, ALogWriteMakesItsBytesAndTheSizeDurableAndNotTheName) {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 4 * kSectorBytes);
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  EXPECT_EQ(durable_text(machine, "/store/1.wal"), "") << "no write yet, so no size";
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok(segment->write(2 * kSectorBytes, record.bytes(), kTestPoint)));
  const std::string text = durable_text(machine, "/store/1.wal");
  EXPECT_EQ(text.size(), 4 * kSectorBytes);
  EXPECT_EQ(text.substr(2 * kSectorBytes, kSectorBytes), text_of(Bytes(record.bytes().begin(), record.bytes().end())));

  const std::unique_ptr<LogSegment> nameless = machine.create_segment("2.wal", kSectorBytes);
  ASSERT_TRUE(is_ok(nameless->write(0, record.bytes(), kTestPoint)));
  EXPECT_EQ(durable_text(machine, "/store/2.wal"), "<absent>");
}

TEST(MemoryFileSystem, ACutIsDurable) {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 4 * kSectorBytes);
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  std::set<std::size_t> sizes;
  machine.files().set_observer(at(OperationKind::kCut, Moment::kDuring, [&] {
    const auto size = [](const MemoryDisk& disk) { return text_in(disk, "/store/1.wal").size(); };
    sizes = outcomes(machine.files().snapshot(), CrashPolicy::kOrderedPrefix, size);
  }));
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok(segment->write(0, record.bytes(), kTestPoint)));
  ASSERT_TRUE(is_ok(segment->cut(kSectorBytes + 100, kTestPoint)));
  EXPECT_EQ(durable_text(machine, "/store/1.wal").size(), kSectorBytes + 100);
  EXPECT_EQ(sizes, (std::set<std::size_t>{kSectorBytes + 100, 4 * kSectorBytes}));
}

TEST(MemoryFileSystem, DirectoriesAreDurableWhenMade) {
  MemoryFileSystem files;
  ASSERT_TRUE(is_ok(files.create_directory("/a", kTestPoint)));
  ASSERT_TRUE(is_ok(files.create_directory("/a/b", kTestPoint)));
  SeededRandom random(1);
  MemoryFileSystem after(files.power_cut(CrashPolicy::kNothingUnsynced, random));
  EXPECT_TRUE(is_ok(after.open_directory("/a/b")));
}

TEST(MemoryFileSystem, HandlesOutliveTheFileSystem) {
  auto machine = std::make_unique<MemoryMachine>();
  const std::unique_ptr<WritableFile> file = machine->create("a");
  Result<std::unique_ptr<DirectoryLock>> lock = machine->store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  machine.reset();
  EXPECT_TRUE(is_ok(file->append(bytes_of("x"))));
  EXPECT_TRUE(is_ok((*lock)->check()));
}

// -- Steps ------------------------------------------------------------------------------------------------------------

TEST(MemoryFileSystem, AnObserverThatLeftIsToldNothingMoreOfAStepInFlight) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  std::vector<Moment> moments;
  machine.files().set_observer([&](const Operation&, Moment moment) {
    moments.push_back(moment);
    machine.files().set_observer({});
  });
  ASSERT_TRUE(is_ok(file->append(bytes_of("hello"))));
  EXPECT_EQ(moments, std::vector<Moment>{Moment::kBefore});
}

TEST(MemoryFileSystem, ShowsEveryMutatingStepBeforeDuringAndAfter) {
  MemoryMachine machine;
  std::vector<std::string> steps;
  const std::uint64_t first = machine.files().operation_count();
  std::uint64_t next = first;
  machine.files().set_observer([&](const Operation& operation, Moment moment) {
    if (moment != Moment::kBefore) return;
    EXPECT_EQ(operation.index, next++);
    EXPECT_EQ(operation.directory, "/store");
    steps.push_back(std::string(operation_name(operation.kind)) + " " + std::string(operation.name) + " " +
                    std::string(operation.sync_point));
  });
  std::vector<Moment> moments;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  machine.files().set_observer([&](const Operation& operation, Moment moment) {
    moments.push_back(moment);
    if (operation.kind == OperationKind::kAppend) {
      EXPECT_EQ(operation.size_bytes, 5U);
    }
  });
  ASSERT_TRUE(is_ok(file->append(bytes_of("hello"))));
  EXPECT_EQ(moments, (std::vector<Moment>{Moment::kBefore, Moment::kDuring, Moment::kAfter}));
  next = machine.files().operation_count();
  machine.files().set_observer([&](const Operation& operation, Moment moment) {
    if (moment != Moment::kBefore) return;
    EXPECT_EQ(operation.index, next++);
    steps.push_back(std::string(operation_name(operation.kind)) + " " + std::string(operation.name) + " " +
                    std::string(operation.sync_point));
  });
  ASSERT_TRUE(is_ok(file->sync({"point"})));
  ASSERT_TRUE(is_ok(machine.store().replace("R", {}, bytes_of("r"), {"root"})));
  ASSERT_TRUE(is_ok(machine.store().remove("a")));
  ASSERT_TRUE(is_ok(machine.store().sync({"names"})));
  ASSERT_TRUE(is_ok(machine.store().list()));
  ASSERT_TRUE(is_ok(read_whole(machine.store(), "R")));
  Result<std::unique_ptr<DirectoryLock>> lock = machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  ASSERT_TRUE(is_ok(machine.store().set_ballast("B", kSectorBytes)));
  ASSERT_TRUE(is_ok(machine.store().create_shared_memory("S", kSectorBytes)));
  const std::unique_ptr<LogSegment> segment = machine.create_segment("L", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment->fill()));
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok(segment->write(0, record.bytes(), {"group"})));
  ASSERT_TRUE(is_ok(segment->cut(kSectorBytes, {"cut"})));
  EXPECT_EQ(steps, (std::vector<std::string>{"Create a ", "Sync a point", "ReplaceWrite R.tmp root",
                                             "ReplaceSync R.tmp root", "ReplaceRename R root",
                                             "ReplaceDirectorySync R root", "Remove a ", "DirectorySync  names",
                                             "CreateLockFile LOCK ", "Create B ", "Ballast B ", "CreateSharedMemory S ",
                                             "CreateLogSegment L ", "Fill L ", "LogWrite L group", "Cut L cut"}));
}

TEST(MemoryFileSystem, TheStateBeforeDuringAndAfterAStepIsWhatItSays) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  std::vector<std::string> cached;
  std::vector<std::size_t> pending;
  machine.files().set_observer([&](const Operation&, Moment) {
    const MemoryDisk disk = machine.files().snapshot();
    cached.push_back(text_in(disk, "/store/a"));
    pending.push_back(disk.pending_count());
  });
  ASSERT_TRUE(is_ok(file->append(bytes_of("x"))));
  EXPECT_EQ(cached, (std::vector<std::string>{"", "", "x"}));
  EXPECT_EQ(pending, (std::vector<std::size_t>{1, 2, 2}));
}

TEST(MemoryFileSystem, TellsAThreadThatIsInsideIt) {
  MemoryMachine machine;
  int inside_count = 0;
  machine.files().set_observer([&](const Operation&, Moment) { inside_count += inside_memory_file_system() ? 1 : 0; });
  const std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->append(bytes_of("x"))));
  EXPECT_EQ(inside_count, 6);
  EXPECT_FALSE(inside_memory_file_system());
}

TEST(MemoryFileSystem, SnapshotsDoNotChange) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  std::vector<MemoryDisk> snapshots;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(is_ok(file->append(bytes_by_seed(static_cast<std::uint64_t>(i), 1000))));
    snapshots.push_back(machine.files().snapshot());
  }
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const Result<Bytes> bytes = snapshots[i].read_file("/store/a");
    ASSERT_TRUE(is_ok(bytes));
    EXPECT_EQ(bytes->size(), 1000 * (i + 1));
    EXPECT_TRUE(std::equal(bytes->end() - 1000, bytes->end(), bytes_by_seed(i, 1000).begin()));
  }
}

TEST(MemoryFileSystem, TheDiskCanBeDamagedUnderAHandle) {
  MemoryMachine machine;
  machine.write_durably("a", "abc");
  Result<std::unique_ptr<ReadableFile>> file = machine.store().open("a", ReadMode::kCached);
  ASSERT_TRUE(is_ok(file));
  machine.files().change_disk([](MemoryDisk& disk) { EXPECT_TRUE(is_ok(disk.flip_bit("/store/a", 0, std::byte{1}))); });
  Bytes byte(1);
  ASSERT_TRUE(is_ok((*file)->read_exactly(0, byte)));
  EXPECT_EQ(text_of(byte), "`");
  machine.files().change_disk([](MemoryDisk& disk) { EXPECT_TRUE(is_ok(disk.remove_file("/store/a"))); });
  EXPECT_TRUE(is_ok((*file)->read_exactly(1, byte)));
  EXPECT_TRUE(fails_with(machine.store().open("a", ReadMode::kCached), ENOENT, "/store/a"));
}

// -- Locks ------------------------------------------------------------------------------------------------------------

TEST(MemoryFileSystem, LocksEndWithTheMachineAndEpochsRiseForEver) {
  MemoryMachine machine;
  Result<std::unique_ptr<DirectoryLock>> lock = machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  const std::uint64_t first = (*lock)->epoch();
  EXPECT_GT(first, 0U);
  SeededRandom random(1);
  for (const MemoryDisk& image :
       {machine.files().process_death(random), machine.files().power_cut(CrashPolicy::kNothingUnsynced, random)}) {
    MemoryMachine next(image);
    Result<std::unique_ptr<DirectoryLock>> again = next.store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
    ASSERT_TRUE(is_ok(again));
    EXPECT_GT((*again)->epoch(), first);
  }
  lock->reset();
  Result<std::unique_ptr<DirectoryLock>> again = machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(again));
  EXPECT_GT((*again)->epoch(), first);
}

TEST(MemoryFileSystem, AnOwnerThatLostItsLockIsFencedInEveryWritingCall) {
  MemoryMachine machine;
  machine.write_durably("old", "old");
  const std::unique_ptr<WritableFile> file = machine.create("a");
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 2 * kSectorBytes);
  Result<std::unique_ptr<DirectoryLock>> lock = machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  EXPECT_TRUE(is_ok((*lock)->check()));
  machine.files().revoke_locks();

  const std::unique_ptr<Directory> other = machine.open_again();
  Result<std::unique_ptr<DirectoryLock>> taken = other->lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(taken));
  EXPECT_GT((*taken)->epoch(), (*lock)->epoch());

  const MemoryDisk before = machine.files().snapshot();
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(fails_with((*lock)->check(), Code::kFenced, "/store/LOCK"));
  EXPECT_TRUE(fails_with(file->append(bytes_of("x")), Code::kFenced, "/store/a"));
  EXPECT_TRUE(fails_with(file->sync(kTestPoint), Code::kFenced));
  EXPECT_TRUE(fails_with(segment->write(0, record.bytes(), kTestPoint), Code::kFenced));
  EXPECT_TRUE(fails_with(segment->cut(0, kTestPoint), Code::kFenced));
  EXPECT_TRUE(fails_with(segment->fill(), Code::kFenced));
  EXPECT_TRUE(fails_with(machine.store().create("b"), Code::kFenced));
  EXPECT_TRUE(fails_with(machine.store().create_log_segment("b", kSectorBytes), Code::kFenced));
  EXPECT_TRUE(fails_with(machine.store().create_shared_memory("b", kSectorBytes), Code::kFenced));
  EXPECT_TRUE(fails_with(machine.store().replace("CURRENT", {}, bytes_of("x"), kTestPoint), Code::kFenced));
  EXPECT_TRUE(fails_with(machine.store().remove("old"), Code::kFenced));
  EXPECT_TRUE(fails_with(machine.store().link("old", machine.store()), Code::kFenced));
  EXPECT_TRUE(fails_with(machine.store().sync(kTestPoint), Code::kFenced));
  EXPECT_TRUE(fails_with(machine.store().set_ballast("b", kSectorBytes), Code::kFenced));
  EXPECT_TRUE(machine.files().snapshot().same_content(before));
  EXPECT_TRUE(is_ok(read_whole(machine.store(), "old"))) << "reading is not writing";

  // The new owner writes, and releasing the old lock does not release the new one.
  lock->reset();
  EXPECT_TRUE(is_ok((*taken)->check()));
  EXPECT_TRUE(is_ok(other->remove("old")));
  EXPECT_TRUE(fails_with(machine.open_again()->lock("LOCK", LockMode::kExclusive, milliseconds(0)), Code::kLocked));
}

TEST(MemoryFileSystem, AWriteInFlightWhenTheLockIsLostDoesNotComeThrough) {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", kSectorBytes);
  Result<std::unique_ptr<DirectoryLock>> lock = machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  machine.files().set_observer(at(OperationKind::kLogWrite, Moment::kDuring, [&] { machine.files().revoke_locks(); }));
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(fails_with(segment->write(0, record.bytes(), kTestPoint), Code::kFenced));
  EXPECT_EQ(text_in(machine.files().snapshot(), "/store/1.wal"), std::string(kSectorBytes, '\0'));
}

// -- Room -------------------------------------------------------------------------------------------------------------

TEST(MemoryFileSystem, WhatPassesTheCapacityIsRefusedAndRoomComesBack) {
  MemoryMachine machine;
  EXPECT_EQ(machine.files().used_bytes(), 0U);
  machine.files().set_capacity_bytes(4 * kPageBytes);
  ASSERT_TRUE(is_ok(machine.store().set_ballast("BALLAST", kPageBytes)));
  std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->append(Bytes(2 * kPageBytes + 1))));
  EXPECT_EQ(machine.files().used_bytes(), 4 * kPageBytes);

  EXPECT_TRUE(fails_with(machine.store().create_log_segment("1.wal", kPageBytes), Code::kNoSpace, "/store/1.wal"));
  EXPECT_TRUE(fails_with(machine.store().create_shared_memory("buffer", kPageBytes), Code::kNoSpace));
  EXPECT_TRUE(fails_with(machine.store().replace("CURRENT", {}, bytes_of("x"), kTestPoint), Code::kNoSpace));
  EXPECT_TRUE(fails_with(machine.store().set_ballast("BALLAST", 2 * kPageBytes), Code::kNoSpace));
  EXPECT_EQ(names_in(machine.store()), (std::vector<std::string>{"BALLAST", "a"}));
  EXPECT_EQ(machine.files().used_bytes(), 4 * kPageBytes) << "the ballast is still held";

  ASSERT_TRUE(is_ok(file->append(Bytes(kPageBytes - 1)))) << "the rest of a page is there";
  const Status full = file->append(Bytes(1));
  EXPECT_TRUE(fails_with(full, Code::kNoSpace, "/store/a"));
  ASSERT_TRUE(is_ok(machine.store().set_ballast("BALLAST", 0)));
  EXPECT_TRUE(fails_with(file->append(Bytes(1)), Code::kNoSpace)) << "the handle remembers its failure";
  EXPECT_TRUE(is_ok(machine.store().replace("CURRENT", {}, bytes_of("x"), kTestPoint)));

  ASSERT_TRUE(is_ok(machine.store().remove("a")));
  EXPECT_EQ(machine.files().used_bytes(), 4 * kPageBytes) << "a handle keeps it";
  file.reset();
  EXPECT_EQ(machine.files().used_bytes(), kPageBytes);
  machine.files().set_capacity_bytes(MemoryFileSystem::kUnlimited);
  EXPECT_TRUE(is_ok(machine.store().create_log_segment("1.wal", 100 * kPageBytes)));
}

// -- Threads ----------------------------------------------------------------------------------------------------------

/// Runs three threads that create, append, write a common segment and sync. Returns the disk afterwards and the trace.
std::pair<MemoryDisk, std::uint64_t> run_threads(std::uint64_t seed, int* together_max) {
  ManualClock clock;
  SeededScheduler seeded(seed, clock);
  MemoryMachine machine(seeded.scheduler());
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 8 * kSectorBytes);
  machine.files().set_observer(at(OperationKind::kLogWrite, Moment::kDuring, [&] {
    const MemoryDisk disk = machine.files().snapshot();
    for (const auto& [id, file] : disk.state().files) {
      *together_max = std::max(
          *together_max, static_cast<int>(std::count_if(file.pending.begin(), file.pending.end(),
                                                        [](const PendingWrite& write) { return write.in_flight; })));
    }
  }));
  const auto work = [&](std::uint64_t number) {
    const AlignedBuffer record = sectors_by_seed(number, kSectorBytes);
    const std::unique_ptr<WritableFile> file = machine.create(std::to_string(number));
    EXPECT_TRUE(is_ok(file->append(bytes_of("text"))));
    EXPECT_TRUE(is_ok(segment->write(number * kSectorBytes, record.bytes(), kTestPoint)));
    EXPECT_TRUE(is_ok(file->sync(kTestPoint)));
    EXPECT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  };
  std::vector<Thread> threads;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Result<Thread> started = seeded.scheduler().start("worker", [&work, number] { work(number); });
    EXPECT_TRUE(is_ok(started));
    threads.push_back(*std::move(started));
  }
  threads.clear();
  SeededRandom random(1);
  return {machine.files().power_cut(CrashPolicy::kNothingUnsynced, random), seeded.trace_hash()};
}

TEST(MemoryFileSystem, StepsInterleaveBySeedAndRepeat) {
  std::set<std::uint64_t> hashes;
  int together_max = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto [disk, hash] = run_threads(seed, &together_max);
    const auto [disk_again, hash_again] = run_threads(seed, &together_max);
    EXPECT_EQ(hash, hash_again);
    EXPECT_TRUE(disk.same_content(disk_again));
    EXPECT_EQ(disk.file_names("/store"), (std::vector<std::string>{"1", "1.wal", "2", "3"}));
    hashes.insert(hash);
  }
  EXPECT_GE(hashes.size(), 38U);
  EXPECT_EQ(together_max, 3) << "three writes in flight at once";
}

// For the thread sanitizer: a snapshot reads shared memory without synchronisation, like the kernel.
TEST(MemoryFileSystem, RealThreadsWorkWhileSnapshotsAreTaken) {
  constexpr int kThreadCount = 3;
  constexpr std::uint64_t kWriteCount = 60;
  Scheduler scheduler;
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment =
      machine.create_segment("1.wal", kThreadCount * kWriteCount * kSectorBytes);
  Result<std::unique_ptr<SharedMemory>> memory = machine.store().create_shared_memory("buffer", 4 * kPageBytes);
  ASSERT_TRUE(is_ok(memory));
  const std::span<std::byte> shared = (*memory)->bytes();
  const auto work = [&](std::uint64_t number) {
    const AlignedBuffer record = sectors_by_seed(number, kSectorBytes);
    for (std::uint64_t i = 0; i < kWriteCount; ++i) {
      shared[number * kPageBytes + i] = std::byte{1};
      EXPECT_TRUE(is_ok(segment->write((i * kThreadCount + number) * kSectorBytes, record.bytes(), kTestPoint)));
    }
  };
  std::vector<Thread> threads;
  for (std::uint64_t number = 0; number < kThreadCount; ++number) {
    Result<Thread> started = scheduler.start("worker", [&work, number] { work(number); });
    ASSERT_TRUE(is_ok(started));
    threads.push_back(*std::move(started));
  }
  SeededRandom random(1);
  for (int i = 0; i < 50; ++i) (void)machine.files().power_cut(CrashPolicy::kRandomSectors, random);
  threads.clear();
  std::string expected(4 * kPageBytes, '\0');
  for (std::size_t number = 0; number < kThreadCount; ++number)
    expected.replace(number * kPageBytes, kWriteCount, kWriteCount, '\1');
  EXPECT_EQ(text_in(machine.files().process_death(random), "/store/buffer"), expected);
}

TEST(MemoryFileSystem, WaitingForALockTakesSimulatedTime) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    ManualClock clock;
    SeededScheduler seeded(seed, clock);
    MemoryMachine machine(seeded.scheduler());
    Result<std::unique_ptr<DirectoryLock>> held = machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
    ASSERT_TRUE(is_ok(held));
    EXPECT_TRUE(fails_with(machine.store().lock("LOCK", LockMode::kShared, std::chrono::hours(1)), Code::kLocked));
    Result<Thread> waiter = seeded.scheduler().start("waiter", [&] {
      EXPECT_TRUE(is_ok(machine.store().lock("LOCK", LockMode::kExclusive, std::chrono::hours(1))));
    });
    ASSERT_TRUE(is_ok(waiter));
    held->reset();
    waiter->join();
  }
}

TEST(MemoryFileSystem, StoppingWaitsForARunningFill) {
  std::set<std::uint64_t> filled;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    ManualClock clock;
    SeededScheduler seeded(seed, clock);
    MemoryMachine machine(seeded.scheduler());
    const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 1 << 20);
    Result<Thread> filler = seeded.scheduler().start("filler", [&] { EXPECT_TRUE(is_ok(segment->fill())); });
    ASSERT_TRUE(is_ok(filler));
    segment->stop_filling();
    const AlignedBuffer record = sectors_by_seed(1, 2 * kSectorBytes);
    EXPECT_TRUE(is_ok(segment->write(0, record.bytes(), kTestPoint)));
    filled.insert(segment->filled_bytes());
    filler->join();
  }
  EXPECT_GE(filled.size(), 3U) << "stopped before, during and after";
}

// -- Misuse -----------------------------------------------------------------------------------------------------------

class MemoryFileSystemDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

/// Starts another write of the segment's first sector while one is in flight.
void overlap_writes() {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", kSectorBytes);
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  bool nested = false;
  machine.files().set_observer(at(OperationKind::kLogWrite, Moment::kDuring, [&] {
    if (!std::exchange(nested, true)) (void)segment->write(0, record.bytes(), kTestPoint);
  }));
  (void)segment->write(0, record.bytes(), kTestPoint);
}

void change_buffer_in_flight() {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", kSectorBytes);
  AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  machine.files().set_observer(
      at(OperationKind::kLogWrite, Moment::kDuring, [&] { record.bytes()[0] ^= std::byte{1}; }));
  (void)segment->write(0, record.bytes(), kTestPoint);
}

void write_while_filling() {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 2 * kSectorBytes);
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  machine.files().set_observer(at(OperationKind::kFill, Moment::kDuring, [&] {
    (void)segment->write(0, record.bytes(), kTestPoint);  // The first sector may be written.
    (void)segment->write(kSectorBytes, record.bytes(), kTestPoint);
  }));
  (void)segment->fill();
}

void cut_while_writing() {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", kSectorBytes);
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  machine.files().set_observer(
      at(OperationKind::kLogWrite, Moment::kDuring, [&] { (void)segment->cut(0, kTestPoint); }));
  (void)segment->write(0, record.bytes(), kTestPoint);
}

TEST_F(MemoryFileSystemDeathTest, MisuseOfASegmentEndsTheProcess) {
  EXPECT_DEATH(overlap_writes(), "overlaps_flight");
  EXPECT_DEATH(change_buffer_in_flight(), "taken");
  EXPECT_DEATH(write_while_filling(), "is_filling_");
  EXPECT_DEATH(cut_while_writing(), "in_flight");
}

}  // namespace
}  // namespace varve::io::memory_file_system_test
