// Goal: a failed allocation at any point loses no file, names no wrong object, and leaves no object without an entry.
// Method: one life of a directory over a model of RADOS, in which each allocation of the caller fails in turn. Then a new
// owner looks at all objects.
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_memory_test {
namespace {

constexpr SyncPoint kPoint{"test"};

/// What the directory must have after the life.
struct Made {
  bool has_table = false;
  bool has_segment = false;
  bool has_current = false;
  bool has_second_current = false;
};

/// Ends the test if the call throws. Nothing may be thrown where blocks are read, and where the log is written.
template <typename Call>
Status without_throw(const Call& call) noexcept {
  return call();
}

Status live(Directory& directory, const Bytes& first, const Bytes& second, std::span<const std::byte> sector,
            Made& made) {
  Result<std::unique_ptr<DirectoryLock>> lock =
      directory.lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(0));
  if (!lock.ok()) return lock.status();
  Result<std::unique_ptr<WritableFile>> table = directory.create("1.sst");
  if (!table.ok()) return table.status();
  if (Status written = (*table)->append(first); !written.ok()) return written;
  if (Status written = (*table)->sync(kPoint); !written.ok()) return written;
  made.has_table = true;
  Result<std::unique_ptr<ReadableFile>> read = directory.open("1.sst", ReadMode::kDirect);
  if (!read.ok()) return read.status();
  std::array<std::byte, 4> bytes{};
  if (Status done = without_throw([&] { return (*read)->read_exactly(0, bytes); }); !done.ok()) return done;
  Result<std::unique_ptr<LogSegment>> segment = directory.create_log_segment("2.wal", 4 * kSectorBytes);
  if (!segment.ok()) return segment.status();
  if (Status done = without_throw([&] { return (*segment)->write(0, sector, kPoint); }); !done.ok()) return done;
  made.has_segment = true;
  if (Status replaced = directory.replace("CURRENT", {}, first, kPoint); !replaced.ok()) return replaced;
  made.has_current = true;
  if (Status replaced = directory.replace("CURRENT", first, second, kPoint); !replaced.ok()) return replaced;
  made.has_second_current = true;
  if (Status cut = without_throw([&] { return (*segment)->cut(kSectorBytes, kPoint); }); !cut.ok()) return cut;
  if (Status removed = directory.remove("2.wal"); !removed.ok()) return removed;
  return directory.set_ballast("ballast", kSectorBytes);
}

TEST(RadosMemory, AFailedAllocationLosesNothing) {
  test::exempt_allocations(inside_object_cluster);
  const Bytes first = bytes_of("the first content");
  const Bytes second = bytes_of("the second content");
  Result<AlignedBuffer> sector = AlignedBuffer::allocate(kSectorBytes);
  ASSERT_TRUE(sector.ok());
  bool happened = true;
  for (std::uint64_t nth = 1; happened; ++nth) {
    SCOPED_TRACE(nth);
    Scheduler scheduler;  // The seeded one would need memory of this thread.
    ManualClock clock;
    SeededRandom random(1);
    ObjectCluster cluster(scheduler, 1);
    const std::unique_ptr<ObjectDoor> door = cluster.make_door();
    const std::unique_ptr<ObjectDoor> next_door = cluster.make_door();
    RadosOptions options;
    options.takeover_wait = false;
    options.renewal_time = std::chrono::hours(1);
    RadosFileSystem files("pool", *door, clock, random, scheduler, options);
    ASSERT_TRUE(is_ok(files.create_directory(test::kRadosPath, kPoint)));
    Result<std::unique_ptr<Directory>> directory = files.open_directory(test::kRadosPath);
    ASSERT_TRUE(is_ok(directory));
    Made made;
    {
      const test::AllocationFailure failure(nth);
      try {
        (void)live(**directory, first, second, sector->bytes(), made);
      } catch (const std::bad_alloc&) {
        // The layer above makes a status of it.
      }
      happened = failure.happened();
    }
    if (!happened) {
      EXPECT_TRUE(made.has_second_current);
    }

    RadosFileSystem next("pool", *next_door, clock, random, scheduler, options);
    Result<std::unique_ptr<Directory>> taken = next.open_directory(test::kRadosPath);
    ASSERT_TRUE(is_ok(taken));
    Result<std::unique_ptr<DirectoryLock>> lock =
        (*taken)->lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(0));
    ASSERT_TRUE(is_ok(lock));
    if (made.has_table) {
      EXPECT_EQ(*read_whole(**taken, "1.sst"), first);
    }
    if (made.has_segment && !made.has_second_current) {
      EXPECT_TRUE(is_ok((*taken)->open("2.wal", ReadMode::kDirect)));
    }
    if (made.has_second_current) {
      EXPECT_EQ(*read_whole(**taken, "CURRENT"), second);
    } else if (made.has_current) {
      const Bytes found = *read_whole(**taken, "CURRENT");
      EXPECT_TRUE(found == first || found == second);
    }
    EXPECT_EQ(test::strays_in(cluster), std::vector<std::string>());
  }
  test::exempt_allocations(nullptr);
}

// What it may have written is unknown, so nothing may follow it.
TEST(RadosMemory, AFileThatLackedMemoryTakesNothingMore) {
  test::exempt_allocations(inside_object_cluster);
  Scheduler scheduler;
  ManualClock clock;
  SeededRandom random(1);
  ObjectCluster cluster(scheduler, 1);
  const std::unique_ptr<ObjectDoor> door = cluster.make_door();
  RadosOptions options;
  options.takeover_wait = false;
  options.renewal_time = std::chrono::hours(1);
  RadosFileSystem files("pool", *door, clock, random, scheduler, options);
  ASSERT_TRUE(is_ok(files.create_directory(test::kRadosPath, kPoint)));
  const std::unique_ptr<Directory> directory = *files.open_directory(test::kRadosPath);
  const auto lock = directory->lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  const Bytes edit = bytes_of("edit");
  int failures = 0;
  bool happened = true;
  for (std::uint64_t nth = 1; happened; ++nth) {
    SCOPED_TRACE(nth);
    Result<std::unique_ptr<WritableFile>> manifest = directory->create(std::to_string(nth));
    ASSERT_TRUE(is_ok(manifest));
    ASSERT_TRUE(is_ok((*manifest)->append(edit)));
    ASSERT_TRUE(is_ok((*manifest)->sync(kPoint)));
    ASSERT_TRUE(is_ok((*manifest)->append(edit)));
    Status synced;
    {
      const test::AllocationFailure failure(nth);
      synced = without_throw([&] { return (*manifest)->sync(kPoint); });
      happened = failure.happened();
    }
    EXPECT_EQ(synced.ok(), !happened);
    if (synced.ok()) continue;
    ++failures;
    EXPECT_TRUE(fails_with((*manifest)->append(edit), Code::kOutOfMemory));
    EXPECT_TRUE(fails_with((*manifest)->sync(kPoint), Code::kOutOfMemory));
  }
  EXPECT_GT(failures, 2);
  test::exempt_allocations(nullptr);
}

}  // namespace
}  // namespace varve::io::rados_memory_test
