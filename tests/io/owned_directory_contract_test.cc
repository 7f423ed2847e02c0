// The contract suite, part three: what holds between two owners of one directory, on every file system whose lock can be
// lost. The file system in memory keeps the rules of a store of objects here. The other one is a store of objects, over
// the model of RADOS.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/env.h"
#include "io/rados/librados_door.h"
#include "io/rados/rados_file_system.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/object_cluster.h"
#include "tests/io/io_test_support.h"

namespace varve::io::owned_directory_contract_test {
namespace {

using std::chrono::milliseconds;

constexpr SyncPoint kPoint{"contract test"};

/// A directory that processes take from each other.
struct World {
  virtual ~World() = default;
  /// Returns the directory as a new process opens it.
  virtual std::unique_ptr<Directory> open() = 0;
  /// Takes the lock, from an owner that lives as well.
  virtual Result<std::unique_ptr<DirectoryLock>> take(Directory& directory) = 0;
};

struct MemoryWorld final : World {
  MemoryWorld() {
    files.keep_object_rules();
    EXPECT_TRUE(is_ok(files.create_directory("/store", kPoint)));
  }
  std::unique_ptr<Directory> open() override { return *files.open_directory("/store"); }
  Result<std::unique_ptr<DirectoryLock>> take(Directory& directory) override {
    files.revoke_locks();
    return directory.lock("LOCK", LockMode::kExclusive, milliseconds(0));
  }
  MemoryFileSystem files;
};

struct RadosWorld final : World {
  RadosWorld() {
    cluster.repeat(20);
    cluster.hold_blocklists();  // The fence alone must suffice.
  }
  std::unique_ptr<Directory> open() override {
    RadosOptions options;
    options.takeover_wait = false;
    doors.push_back(cluster.make_door());
    processes.push_back(std::make_unique<RadosFileSystem>("pool", *doors.back(), clock, random, scheduler, options));
    EXPECT_TRUE(is_ok(processes.back()->create_directory("rados:pool/store", kPoint)));
    return *processes.back()->open_directory("rados:pool/store");
  }
  Result<std::unique_ptr<DirectoryLock>> take(Directory& directory) override {
    return directory.lock("LOCK", LockMode::kExclusive, milliseconds(0));
  }
  Scheduler scheduler;
  ManualClock clock;
  SeededRandom random{7};
  ObjectCluster cluster{scheduler, 11};
  std::vector<std::unique_ptr<ObjectDoor>> doors;
  std::vector<std::unique_ptr<RadosFileSystem>> processes;
};

/// The same over a cluster. VARVE_CEPH_POOL names a pool of it.
struct ClusterWorld final : World {
  explicit ClusterWorld(std::string pool_name) : pool(std::move(pool_name)) {}
  std::unique_ptr<Directory> open() override {
    RadosOptions options;
    options.takeover_wait = false;
    Result<std::unique_ptr<ObjectDoor>> door = connect_to_pool(pool);
    EXPECT_TRUE(is_ok(door));
    const Env& system = system_env();
    doors.push_back(*std::move(door));
    processes.push_back(
        std::make_unique<RadosFileSystem>(pool, *doors.back(), system.clock, system.random, system.scheduler, options));
    EXPECT_TRUE(is_ok(processes.back()->create_directory(path, kPoint)));
    return *processes.back()->open_directory(path);
  }
  Result<std::unique_ptr<DirectoryLock>> take(Directory& directory) override {
    return directory.lock("LOCK", LockMode::kExclusive, milliseconds(0));
  }
  const std::string pool;
  const std::string path = "rados:" + pool + "/owned-" + std::to_string(system_env().random.next());
  std::vector<std::unique_ptr<ObjectDoor>> doors;
  std::vector<std::unique_ptr<RadosFileSystem>> processes;
};

/// Returns null if no variable names a pool.
std::unique_ptr<World> make_cluster_world() {
  const char* const pool = std::getenv("VARVE_CEPH_POOL");
  return pool == nullptr ? nullptr : std::make_unique<ClusterWorld>(pool);
}

struct Implementation {
  const char* name;
  std::unique_ptr<World> (*make)();
};

/// Two owners, one after the other. The first one does not know of the second.
class OwnedDirectoryContract : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    if (world_ == nullptr) GTEST_SKIP() << "VARVE_CEPH_POOL names no pool of a cluster";
    first_ = world_->open();
    Result<std::unique_ptr<DirectoryLock>> lock = world_->take(*first_);
    ASSERT_TRUE(is_ok(lock));
    first_lock_ = *std::move(lock);
  }
  void take_over() {
    second_ = world_->open();
    Result<std::unique_ptr<DirectoryLock>> lock = world_->take(*second_);
    ASSERT_TRUE(is_ok(lock));
    second_lock_ = *std::move(lock);
  }
  static std::string text_in(Directory& directory, std::string_view name) {
    const Result<Bytes> bytes = read_whole(directory, name);
    if (!bytes.ok()) return bytes.status().to_string();
    std::string text;
    for (const std::byte byte : *bytes) text.push_back(static_cast<char>(byte));
    return text;
  }

  /// Returns the names without that of the lock, which is a file in some file systems.
  static std::vector<std::string> files_in(Directory& directory) {
    std::vector<std::string> names = names_in(directory);
    std::erase(names, "LOCK");
    return names;
  }

  std::unique_ptr<World> world_;
  std::unique_ptr<Directory> first_;
  std::unique_ptr<DirectoryLock> first_lock_;
  std::unique_ptr<Directory> second_;
  std::unique_ptr<DirectoryLock> second_lock_;
};

TEST_P(OwnedDirectoryContract, AnOwnerReadsWhatItWrote) {
  ASSERT_TRUE(is_ok(write_whole(*first_, "a", bytes_of("text"))));
  ASSERT_TRUE(is_ok(first_->replace("CURRENT", {}, bytes_of("1"), kPoint)));
  ASSERT_TRUE(is_ok(first_->replace("CURRENT", bytes_of("1"), bytes_of("two"), kPoint)));
  EXPECT_TRUE(fails_with(first_->replace("CURRENT", bytes_of("1"), bytes_of("3"), kPoint), Code::kPreconditionFailed));
  EXPECT_TRUE(fails_with(first_->replace("CURRENT", {}, bytes_of("3"), kPoint), Code::kPreconditionFailed));
  EXPECT_TRUE(fails_with(first_->replace("b", bytes_of("1"), bytes_of("3"), kPoint), Code::kPreconditionFailed));
  EXPECT_EQ(text_in(*first_, "a"), "text");
  EXPECT_EQ(text_in(*first_, "CURRENT"), "two");
  EXPECT_TRUE(fails_with(first_->create("a"), EEXIST));
  EXPECT_TRUE(is_ok(first_->remove("a")));
  EXPECT_TRUE(fails_with(first_->open("a", ReadMode::kCached), ENOENT));
  EXPECT_TRUE(fails_with(first_->remove("a"), ENOENT));
  EXPECT_TRUE(is_ok(first_->confirm_owner()));
  EXPECT_TRUE(is_ok(first_lock_->check()));
}

TEST_P(OwnedDirectoryContract, ALargeFileReadsBackAtEveryPlace) {
  const Bytes content = bytes_by_seed(5, (std::size_t{9} << 20) + 77);
  Result<std::unique_ptr<WritableFile>> file = first_->create("a");
  ASSERT_TRUE(is_ok(file));
  const std::span<const std::byte> all(content);
  for (std::size_t at = 0; at < all.size(); at += 1'500'000) {
    ASSERT_TRUE(is_ok((*file)->append(all.subspan(at, std::min<std::size_t>(1'500'000, all.size() - at)))));
    if (at % 2 == 0) {
      ASSERT_TRUE(is_ok((*file)->sync(kPoint)));
    }
  }
  ASSERT_TRUE(is_ok((*file)->sync(kPoint)));
  EXPECT_EQ((*file)->size_bytes(), content.size());
  take_over();
  const Result<Bytes> found = read_whole(*second_, "a");
  ASSERT_TRUE(is_ok(found));
  EXPECT_TRUE(*found == content);
}

TEST_P(OwnedDirectoryContract, ASegmentReadsAsZerosWhereNothingWasWritten) {
  Result<std::unique_ptr<LogSegment>> segment = first_->create_log_segment("1.wal", 4 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok((*segment)->write(2 * kSectorBytes, bytes.bytes(), kPoint)));
  Bytes expected(4 * kSectorBytes);
  std::copy(bytes.bytes().begin(), bytes.bytes().end(), expected.begin() + 2 * kSectorBytes);
  EXPECT_EQ(*read_whole(*first_, "1.wal"), expected);
  ASSERT_TRUE(is_ok((*segment)->cut(3 * kSectorBytes, kPoint)));
  EXPECT_FALSE((*segment)->write(0, bytes.bytes(), kPoint).ok());
  expected.resize(3 * kSectorBytes);
  EXPECT_EQ(*read_whole(*first_, "1.wal"), expected);
}

TEST_P(OwnedDirectoryContract, EpochsRise) {
  const std::uint64_t first = first_lock_->epoch();
  EXPECT_GT(first, 0U);
  take_over();
  EXPECT_GT(second_lock_->epoch(), first);
}

TEST_P(OwnedDirectoryContract, AFormerOwnerChangesNothingAndIsTold) {
  ASSERT_TRUE(is_ok(write_whole(*first_, "kept", bytes_of("kept"))));
  ASSERT_TRUE(is_ok(first_->replace("CURRENT", {}, bytes_of("1"), kPoint)));
  Result<std::unique_ptr<WritableFile>> growing = first_->create("growing");
  ASSERT_TRUE(is_ok(growing));
  ASSERT_TRUE(is_ok((*growing)->append(bytes_of("begun"))));
  ASSERT_TRUE(is_ok((*growing)->sync(kPoint)));
  ASSERT_TRUE(is_ok((*growing)->append(bytes_of(", on"))));
  ASSERT_TRUE(is_ok((*growing)->sync(kPoint)));
  Result<std::unique_ptr<LogSegment>> segment = first_->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok((*segment)->write(0, bytes.bytes(), kPoint)));
  take_over();

  EXPECT_TRUE(fails_with((*segment)->write(kSectorBytes, bytes.bytes(), kPoint), Code::kFenced));
  const Status appended = (*growing)->append(bytes_of(" and on"));
  EXPECT_TRUE(appended.ok() || appended.code() == Code::kFenced);
  EXPECT_TRUE(fails_with((*growing)->sync(kPoint), Code::kFenced));
  EXPECT_TRUE(fails_with(first_->create("new"), Code::kFenced));
  EXPECT_TRUE(fails_with(first_->remove("kept"), Code::kFenced));
  EXPECT_TRUE(fails_with(first_->replace("CURRENT", bytes_of("1"), bytes_of("2"), kPoint), Code::kFenced));
  EXPECT_TRUE(fails_with(first_->confirm_owner(), Code::kFenced));
  EXPECT_TRUE(fails_with(first_lock_->check(), Code::kFenced));

  EXPECT_EQ(files_in(*second_), (std::vector<std::string>{"1.wal", "CURRENT", "growing", "kept"}));
  EXPECT_EQ(text_in(*second_, "growing"), "begun, on");
  EXPECT_EQ(text_in(*second_, "CURRENT"), "1");
  Bytes expected(2 * kSectorBytes);
  std::copy(bytes.bytes().begin(), bytes.bytes().end(), expected.begin());
  EXPECT_EQ(*read_whole(*second_, "1.wal"), expected);
}

// The half of the fence that an epoch alone does not give: an object that was removed is not made again.
TEST_P(OwnedDirectoryContract, AFormerOwnerDoesNotMakeAgainWhatItsSuccessorRemoved) {
  Result<std::unique_ptr<LogSegment>> segment = first_->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  take_over();
  ASSERT_TRUE(is_ok(second_->remove("1.wal")));
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(fails_with((*segment)->write(0, bytes.bytes(), kPoint), Code::kFenced));
  EXPECT_TRUE(files_in(*second_).empty());
}

TEST_P(OwnedDirectoryContract, TheSuccessorOfACleanEndGoesOn) {
  ASSERT_TRUE(is_ok(write_whole(*first_, "a", bytes_of("1"))));
  first_lock_.reset();
  take_over();
  EXPECT_EQ(text_in(*second_, "a"), "1");
  ASSERT_TRUE(is_ok(second_->remove("a")));
  ASSERT_TRUE(is_ok(write_whole(*second_, "a", bytes_of("2"))));
  EXPECT_EQ(text_in(*second_, "a"), "2");
}

INSTANTIATE_TEST_SUITE_P(
    All, OwnedDirectoryContract,
    testing::Values(Implementation{"memory",
                                   []() -> std::unique_ptr<World> { return std::make_unique<MemoryWorld>(); }},
                    Implementation{"rados", []() -> std::unique_ptr<World> { return std::make_unique<RadosWorld>(); }},
                    Implementation{"librados", &make_cluster_world}),
    [](const testing::TestParamInfo<Implementation>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace varve::io::owned_directory_contract_test
