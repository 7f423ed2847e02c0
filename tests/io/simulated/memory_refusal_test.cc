// Goal: the in-memory file system refuses what a real one would refuse. An owner that loses its lock in the middle of a
// call changes nothing more. A removed directory is reported as absent. A fork is no owner.
// Method: every operation that writes; its lock is revoked before and during each of its steps in turn.
#include <cerrno>
#include <functional>
#include <ostream>

#include "tests/io/child_process.h"
#include "tests/io/simulated/memory_test_support.h"

namespace varve::io::memory_refusal_test {
namespace {

using std::chrono::milliseconds;

/// A locked store with a durable file a, "old", a segment, an open file with data that is not synced, and another
/// directory.
struct Store {
  Store() {
    lock = *machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0));
    EXPECT_TRUE(is_ok(write_whole(machine.store(), "a", bytes_of("old"))));
    segment = machine.create_segment("1.wal", 4 * kSectorBytes);
    EXPECT_TRUE(is_ok(segment->write(0, sectors.bytes(), kTestPoint)));
    file = machine.create("b");
    EXPECT_TRUE(is_ok(machine.store().sync(kTestPoint)));
    EXPECT_TRUE(is_ok(file->append(bytes_of("un-synced"))));
    EXPECT_TRUE(is_ok(machine.store().create("c")));
  }

  MemoryMachine machine;
  AlignedBuffer sectors = sectors_by_seed(1, kSectorBytes);
  std::unique_ptr<DirectoryLock> lock;
  std::unique_ptr<LogSegment> segment;
  std::unique_ptr<WritableFile> file;
};

struct Verb {
  const char* name;
  std::function<Status(Store&)> call;
};

std::ostream& operator<<(std::ostream& out, const Verb& verb) {
  return out << verb.name;
}

const Verb kVerbs[] = {
    {"Create", [](Store& store) { return store.machine.store().create("new").status(); }},
    {"CreateLogSegment",
     [](Store& store) { return store.machine.store().create_log_segment("new", kSectorBytes).status(); }},
    {"CreateSharedMemory",
     [](Store& store) { return store.machine.store().create_shared_memory("new", kSectorBytes).status(); }},
    {"Append", [](Store& store) { return store.file->append(bytes_of("more")); }},
    {"Sync", [](Store& store) { return store.file->sync(kTestPoint); }},
    {"LogWrite", [](Store& store) { return store.segment->write(kSectorBytes, store.sectors.bytes(), kTestPoint); }},
    {"Cut", [](Store& store) { return store.segment->cut(kSectorBytes, kTestPoint); }},
    {"Replace",
     [](Store& store) { return store.machine.store().replace("a", bytes_of("old"), bytes_of("new"), kTestPoint); }},
    {"Remove", [](Store& store) { return store.machine.store().remove("a"); }},
    {"DirectorySync", [](Store& store) { return store.machine.store().sync(kTestPoint); }},
    {"Ballast", [](Store& store) { return store.machine.store().set_ballast("BALLAST", kSectorBytes); }},
};

class MemoryRefusal : public testing::TestWithParam<Verb> {};

/// Revokes the lock at the n-th visit of an observer, from 0. Returns the result of the operation, or Ok if it ended
/// before.
Status with_lock_taken_at(Store& store, const Verb& verb, int nth, bool* taken) {
  int visit = 0;
  store.machine.files().set_observer([&](const Operation&, Moment moment) {
    if (moment == Moment::kAfter || visit++ != nth) return;
    store.machine.files().revoke_locks();
    *taken = true;
  });
  const Status answer = verb.call(store);
  store.machine.files().set_observer(nullptr);
  return answer;
}

TEST_P(MemoryRefusal, AnOwnerWhoseLockIsTakenInTheMiddleIsFencedAndNothingIsHalfDone) {
  int visits = 0;
  for (;; ++visits) {
    SCOPED_TRACE(visits);
    Store store;
    bool taken = false;
    const Status answer = with_lock_taken_at(store, GetParam(), visits, &taken);
    const MemoryDisk disk = store.machine.files().snapshot();
    if (!taken) {
      EXPECT_TRUE(is_ok(answer));
      break;
    }
    EXPECT_FALSE(answer.ok() && disk.contains("/store/new"));
    const std::string content = text_in(disk, "/store/a");
    if (content == "new") {  // Only the sync of the replacement's name may still be refused.
      EXPECT_STREQ(GetParam().name, "Replace");
    } else {
      EXPECT_EQ(content, "old");
      EXPECT_FALSE(disk.contains("/store/new"));
      EXPECT_EQ(text_in(disk, "/store/b"), "un-synced");
    }
    EXPECT_TRUE(fails_with(GetParam().call(store), Code::kFenced)) << "the next call";
    EXPECT_TRUE(fails_with(answer, Code::kFenced));
  }
  EXPECT_GE(visits, 2) << "before and during";
}

TEST_P(MemoryRefusal, AForkIsNoOwner) {
  Store store;
  const MemoryDisk before = store.machine.files().snapshot();
  EXPECT_EQ(in_child([&] { return std::string(code_name(GetParam().call(store).code())); }), "Locked");
  EXPECT_TRUE(before.same_content(store.machine.files().snapshot()));
  EXPECT_TRUE(is_ok(GetParam().call(store))) << "the owner goes on";
}

INSTANTIATE_TEST_SUITE_P(Each, MemoryRefusal, testing::ValuesIn(kVerbs),
                         [](const auto& each) { return each.param.name; });

// -- Directories ------------------------------------------------------------------------------------------------------

TEST(MemoryRefusals, ADirectoryThatIsGoneAnswersAsAbsent) {
  MemoryMachine machine;
  ASSERT_TRUE(is_ok(machine.files().create_directory("/other", kTestPoint)));
  std::unique_ptr<Directory> other = *machine.files().open_directory("/other");
  ASSERT_TRUE(is_ok(write_whole(*other, "a", bytes_of("x"))));
  machine.files().change_disk([](MemoryDisk& disk) { disk.state().directories.erase("/store"); });
  Directory& store = machine.store();
  const Status answers[] = {store.list().status(),
                            store.open("a", ReadMode::kCached).status(),
                            store.create("a").status(),
                            store.create_log_segment("a", kSectorBytes).status(),
                            store.create_shared_memory("a", kSectorBytes).status(),
                            store.replace("a", {}, bytes_of("x"), kTestPoint),
                            store.remove("a"),
                            other->link("a", store),
                            store.set_ballast("BALLAST", kSectorBytes),
                            store.lock("LOCK", LockMode::kExclusive, milliseconds(0)).status(),
                            store.sync(kTestPoint)};
  for (const Status& answer : answers) EXPECT_TRUE(fails_with(answer, ENOENT, "/store"));
}

TEST(MemoryRefusals, ADirectoryInThePlaceOfAFileIsRefused) {
  MemoryMachine machine;
  ASSERT_TRUE(is_ok(machine.files().create_directory("/store/d", kTestPoint)));
  ASSERT_TRUE(is_ok(machine.files().create_directory("/d", kTestPoint)));
  std::unique_ptr<Directory> root = *machine.files().open_directory("/");
  Directory& store = machine.store();
  EXPECT_TRUE(fails_with(store.create("d"), EEXIST, "/store/d"));
  EXPECT_TRUE(fails_with(store.remove("d"), Code::kIoError, "Is a directory"));
  EXPECT_TRUE(fails_with(store.replace("d", {}, bytes_of("x"), kTestPoint), Code::kIoError, "Is a directory"));
  EXPECT_TRUE(fails_with(store.link("d", *root), Code::kCorruption, "not a regular file"));
  EXPECT_TRUE(fails_with(root->create("store"), EEXIST, "/store"));
  ASSERT_TRUE(is_ok(write_whole(*root, "e", bytes_of("x"))));
  ASSERT_TRUE(is_ok(machine.files().create_directory("/store/e", kTestPoint)));
  EXPECT_TRUE(fails_with(root->link("e", store), EEXIST, "/store/e"));
  ASSERT_TRUE(is_ok(write_whole(store, "f", bytes_of("y"))));
  EXPECT_TRUE(fails_with(store.link("f", store), EEXIST, "/store/f"));
}

TEST(MemoryRefusals, AnotherFileSystemIsNotLinkedInto) {
  MemoryMachine machine;
  MemoryMachine other;
  ASSERT_TRUE(is_ok(write_whole(machine.store(), "a", bytes_of("x"))));
  EXPECT_TRUE(fails_with(machine.store().link("a", other.store()), Code::kUnsupported, "different file systems"));
}

TEST(MemoryRefusals, PathsThatAreNoneAreRefused) {
  MemoryFileSystem files;
  for (const std::string_view path : {std::string_view(), std::string_view("/a\0b", 4)}) {
    EXPECT_TRUE(fails_with(files.open_directory(path), Code::kInvalidArgument));
    EXPECT_TRUE(fails_with(files.create_directory(path, kTestPoint), Code::kInvalidArgument));
  }
  EXPECT_TRUE(fails_with(files.create_directory("/a/b", kTestPoint), ENOENT)) << "without a parent";
}

// -- Faults of other calls --------------------------------------------------------------------------------------------

TEST_P(MemoryRefusal, AFaultThatIsOfReadsAloneLeavesItWhole) {
  for (const FaultEffect effect :
       {FaultEffect::kFlipBitOnce, FaultEffect::kFlipBitPersistently, FaultEffect::kStaleRead}) {
    Store store;
    FaultRule rule;
    rule.mutating_only = true;
    rule.effect = effect;
    rule.fail_count = FaultRule::kFromThenOn;
    store.machine.files().faults().add(rule);
    EXPECT_TRUE(is_ok(GetParam().call(store)));
    EXPECT_GE(store.machine.files().faults().hit_count(), 1U);
    store.machine.files().faults().clear();
    Store untouched;
    EXPECT_TRUE(is_ok(GetParam().call(untouched)));
    EXPECT_TRUE(store.machine.files().snapshot().same_content(untouched.machine.files().snapshot()));
  }
}

TEST(MemoryRefusals, ALateErrorOfASegmentComesWithItsNextWriteOrItsCut) {
  for (const bool by_cut : {false, true}) {
    Store store;
    FaultRule rule;
    rule.kind = OperationKind::kLogWrite;
    rule.effect = FaultEffect::kSyncErrorLate;
    store.machine.files().faults().add(rule);
    EXPECT_TRUE(is_ok(store.segment->write(kSectorBytes, store.sectors.bytes(), kTestPoint)));
    const Status late = by_cut ? store.segment->cut(2 * kSectorBytes, kTestPoint)
                               : store.segment->write(2 * kSectorBytes, store.sectors.bytes(), kTestPoint);
    EXPECT_TRUE(fails_with(late, Code::kIoError));
    EXPECT_TRUE(fails_with(store.segment->write(0, store.sectors.bytes(), kTestPoint), Code::kIoError)) << "kept";
  }
}

TEST(MemoryRefusals, ASharedLockOutlivesTheLossOfAnExclusiveOne) {
  MemoryMachine machine;
  { const auto made = machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0)); }
  const Result<std::unique_ptr<DirectoryLock>> shared =
      machine.store().lock("LOCK", LockMode::kShared, milliseconds(0));
  ASSERT_TRUE(is_ok(shared));
  machine.files().revoke_locks();
  EXPECT_TRUE(is_ok((*shared)->check()));
  EXPECT_TRUE(fails_with(machine.store().lock("LOCK", LockMode::kExclusive, milliseconds(0)), Code::kLocked));
}

}  // namespace
}  // namespace varve::io::memory_refusal_test
