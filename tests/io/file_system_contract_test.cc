// The contract suite, part one: every statement of io/file_system.h, and of io/file.h about files and locks, that each
// implementation can show.
#include "tests/io/file_system_contract.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

namespace varve::io::file_system_contract_test {
namespace {

using std::chrono::milliseconds;

// -- File system ------------------------------------------------------------------------------------------------------

TEST_P(FileSystemContract, TellsItsName) {
  EXPECT_EQ(files().name(), GetParam().file_system);
}

TEST_P(FileSystemContract, DirectoryTellsThePathItWasOpenedBy) {
  EXPECT_EQ(directory().path(), path());
}

TEST_P(FileSystemContract, CreatingADirectoryThatIsThereSucceedsAndKeepsItsContent) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("kept"))));
  EXPECT_TRUE(is_ok(files().create_directory(path(), kPoint)));
  expect_content("a", bytes_of("kept"));
}

TEST_P(LocalFileSystemContract, CreatingADirectoryMakesOneLevelOnly) {
  EXPECT_TRUE(fails_with(files().create_directory(path() + "/b/c", kPoint), ENOENT, path()));
  EXPECT_TRUE(fails_with(files().open_directory(path() + "/b"), ENOENT));
}

TEST_P(LocalFileSystemContract, AFileIsNoDirectory) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("x"))));
  EXPECT_TRUE(fails_with(files().open_directory(path() + "/a"), ENOTDIR, path()));
  EXPECT_TRUE(fails_with(files().create_directory(path() + "/a", kPoint), ENOTDIR, path()));
  expect_content("a", bytes_of("x"));
}

TEST_P(FileSystemContract, OpeningADirectoryThatIsAbsentIsNotFound) {
  EXPECT_TRUE(fails_with(files().open_directory(child_path("absent")), ENOENT, "absent"));
}

// -- Names and lists --------------------------------------------------------------------------------------------------

TEST_P(LocalFileSystemContract, NamesThatAreNoSingleComponentAreRefusedByEveryVerb) {
  ASSERT_TRUE(is_ok(files().create_directory(path() + "/sub", kPoint)));
  const Bytes content = bytes_of("x");
  for (const std::string_view name : {"", "/", "sub/a", "/a", "a/"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(fails_with(directory().create(name), Code::kInvalidArgument, path()));
    EXPECT_TRUE(fails_with(directory().open(name, ReadMode::kCached), Code::kInvalidArgument, path()));
    EXPECT_TRUE(fails_with(directory().create_log_segment(name, kSectorBytes), Code::kInvalidArgument, path()));
    EXPECT_TRUE(fails_with(directory().create_shared_memory(name, kSectorBytes), Code::kInvalidArgument, path()));
    EXPECT_TRUE(fails_with(directory().replace(name, {}, content, kPoint), Code::kInvalidArgument, path()));
    EXPECT_TRUE(fails_with(directory().remove(name), Code::kInvalidArgument, path()));
    EXPECT_TRUE(fails_with(directory().link(name, directory()), Code::kInvalidArgument, path()));
    EXPECT_TRUE(fails_with(directory().lock(name, LockMode::kExclusive, milliseconds(0)), Code::kInvalidArgument));
    EXPECT_TRUE(fails_with(directory().set_ballast(name, kSectorBytes), Code::kInvalidArgument, path()));
  }
  EXPECT_EQ(names_in(directory()), std::vector<std::string>{"sub"});
}

TEST_P(FileSystemContract, AbsentFilesAreNotFoundAndNamedWithTheirWholePath) {
  const std::string whole = path() + "/absent";
  EXPECT_TRUE(fails_with(directory().open("absent", ReadMode::kCached), ENOENT, whole));
  EXPECT_TRUE(fails_with(directory().open("absent", ReadMode::kDirect), ENOENT, whole));
  EXPECT_TRUE(fails_with(directory().remove("absent"), ENOENT, whole));
  EXPECT_TRUE(names_in(directory()).empty());
}

TEST_P(LocalFileSystemContract, ListTellsNamesSizesAndWhatIsARegularFile) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "five", bytes_of("12345"))));
  ASSERT_TRUE(is_ok(directory().create("empty")));
  ASSERT_TRUE(is_ok(files().create_directory(path() + "/sub", kPoint)));
  Result<std::vector<DirectoryEntry>> entries = directory().list();
  ASSERT_TRUE(is_ok(entries));
  std::sort(entries->begin(), entries->end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  ASSERT_EQ(entries->size(), 3U);
  EXPECT_EQ((*entries)[0].name, "empty");
  EXPECT_EQ((*entries)[0].size_bytes, 0U);
  EXPECT_TRUE((*entries)[0].regular_file);
  EXPECT_EQ((*entries)[1].name, "five");
  EXPECT_EQ((*entries)[1].size_bytes, 5U);
  EXPECT_TRUE((*entries)[1].regular_file);
  EXPECT_EQ((*entries)[2].name, "sub");
  EXPECT_FALSE((*entries)[2].regular_file);
  Result<std::vector<DirectoryEntry>> names = directory().list_names();
  ASSERT_TRUE(is_ok(names));
  std::sort(names->begin(), names->end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  ASSERT_EQ(names->size(), 3U);
  for (std::size_t i = 0; i < names->size(); ++i) {
    EXPECT_EQ((*names)[i].name, (*entries)[i].name);
    EXPECT_EQ((*names)[i].regular_file, (*entries)[i].regular_file) << (*names)[i].name;
  }
}

TEST_P(LocalFileSystemContract, TwoHandlesOfOneDirectorySeeTheSameFiles) {
  std::unique_ptr<Directory> other = open_again();
  ASSERT_TRUE(is_ok(write_whole(*other, "a", bytes_of("x"))));
  expect_content("a", bytes_of("x"));
  EXPECT_TRUE(fails_with(directory().create("a"), EEXIST, path() + "/a"));
}

// -- Written once, read at offsets ------------------------------------------------------------------------------------

TEST_P(LocalFileSystemContract, CreateMakesAnEmptyFileAndRefusesASecond) {
  Result<std::unique_ptr<WritableFile>> file = directory().create("a");
  ASSERT_TRUE(is_ok(file));
  EXPECT_EQ((*file)->size_bytes(), 0U);
  expect_content("a", {});
  ASSERT_TRUE(is_ok((*file)->append(bytes_of("kept"))));
  EXPECT_TRUE(fails_with(directory().create("a"), EEXIST, path() + "/a"));
  EXPECT_TRUE(fails_with(directory().create_log_segment("a", kSectorBytes), EEXIST, path() + "/a"));
  EXPECT_TRUE(fails_with(directory().create_shared_memory("a", kSectorBytes), EEXIST, path() + "/a"));
  expect_content("a", bytes_of("kept"));
}

TEST_P(FileSystemContract, AppendedBytesReadBackAtEveryOffsetAndLength) {
  constexpr std::uint64_t kSeed = 20'201;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  Result<std::unique_ptr<WritableFile>> file = directory().create("a");
  ASSERT_TRUE(is_ok(file));
  Bytes expected;
  for (int part = 0; part < 40; ++part) {
    const Bytes bytes = bytes_by_seed(random(), random() % 9000);
    ASSERT_TRUE(is_ok((*file)->append(bytes)));
    expected.insert(expected.end(), bytes.begin(), bytes.end());
    ASSERT_EQ((*file)->size_bytes(), expected.size());
  }
  ASSERT_TRUE(is_ok((*file)->sync(kPoint)));
  expect_content("a", expected);

  for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
    Result<std::unique_ptr<ReadableFile>> reader = directory().open("a", mode);
    ASSERT_TRUE(is_ok(reader));
    for (int read = 0; read < 200; ++read) {
      const std::uint64_t offset = random() % (expected.size() + 1);
      const std::size_t count = random() % (expected.size() - offset + 1);
      SCOPED_TRACE(testing::Message() << "offset " << offset << " count " << count);
      Bytes bytes(count);
      ASSERT_TRUE(is_ok((*reader)->read_exactly(offset, bytes)));
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset)));
    }
  }
}

TEST_P(FileSystemContract, ReadingPastTheEndIsCorruptionThatNamesFileAndOffset) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("12345"))));
  for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
    Result<std::unique_ptr<ReadableFile>> file = directory().open("a", mode);
    ASSERT_TRUE(is_ok(file));
    EXPECT_EQ((*file)->size_bytes(), 5U);
    Bytes one(1);
    Bytes six(6);
    EXPECT_TRUE(is_ok((*file)->read_exactly(4, one)));
    EXPECT_EQ(one, bytes_of("5"));
    EXPECT_TRUE(is_ok((*file)->read_exactly(5, {})));
    EXPECT_TRUE(fails_with((*file)->read_exactly(5, one), Code::kCorruption, path() + "/a"));
    EXPECT_TRUE(fails_with((*file)->read_exactly(5, one), Code::kCorruption, "5"));
    EXPECT_TRUE(fails_with((*file)->read_exactly(0, six), Code::kCorruption, path() + "/a"));
    EXPECT_TRUE(fails_with((*file)->read_exactly(UINT64_MAX, one), Code::kCorruption));
    EXPECT_TRUE(fails_with((*file)->read_exactly(UINT64_MAX - 2, six), Code::kCorruption));
  }
}

TEST_P(LocalFileSystemContract, ReadableFileTellsTheSizeItHadWhenOpened) {
  Result<std::unique_ptr<WritableFile>> file = directory().create("a");
  ASSERT_TRUE(is_ok(file));
  ASSERT_TRUE(is_ok((*file)->append(bytes_of("12345"))));
  Result<std::unique_ptr<ReadableFile>> before = directory().open("a", ReadMode::kCached);
  ASSERT_TRUE(is_ok(before));
  ASSERT_TRUE(is_ok((*file)->append(bytes_of("678"))));
  EXPECT_EQ((*before)->size_bytes(), 5U);
  expect_content("a", bytes_of("12345678"));
}

TEST_P(FileSystemContract, ManyThreadsReadOneFile) {
  const Bytes expected = bytes_by_seed(7, 300'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
    Result<std::unique_ptr<ReadableFile>> file = directory().open("a", mode);
    ASSERT_TRUE(is_ok(file));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      threads.emplace_back([&, seed] {
        std::mt19937_64 random(seed);
        for (int read = 0; read < 100; ++read) {
          const std::uint64_t offset = random() % expected.size();
          Bytes bytes(std::min<std::size_t>(random() % 10'000, expected.size() - offset));
          const Status outcome = (*file)->read_exactly(offset, bytes);
          const bool same =
              std::equal(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
          if (!outcome.ok() || !same) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST_P(LocalFileSystemContract, ARemovedFileGoesFromTheDirectoryAndStaysValidForItsHandles) {
  Result<std::unique_ptr<WritableFile>> writer = directory().create("a");
  ASSERT_TRUE(is_ok(writer));
  ASSERT_TRUE(is_ok((*writer)->append(bytes_of("old"))));
  Result<std::unique_ptr<ReadableFile>> reader = directory().open("a", ReadMode::kCached);
  ASSERT_TRUE(is_ok(reader));

  ASSERT_TRUE(is_ok(directory().remove("a")));
  EXPECT_TRUE(is_ok(directory().sync(kPoint)));
  EXPECT_TRUE(names_in(directory()).empty());
  EXPECT_TRUE(fails_with(directory().open("a", ReadMode::kCached), ENOENT));
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("new"))));

  Bytes bytes(3);
  ASSERT_TRUE(is_ok((*reader)->read_exactly(0, bytes)));
  EXPECT_EQ(bytes, bytes_of("old"));
  EXPECT_TRUE(is_ok((*writer)->append(bytes_of("er"))));
  EXPECT_TRUE(fails_with((*writer)->sync(kPoint), Code::kFenced, path() + "/a")) << "nobody would find the bytes";
  expect_content("a", bytes_of("new"));
}

// -- Links ------------------------------------------------------------------------------------------------------------

TEST_P(LocalFileSystemContract, ALinkedFileIsOneFileUnderTwoNamesAndStaysAsLongAsEither) {
  ASSERT_TRUE(is_ok(files().create_directory(child_path("other"), kPoint)));
  Result<std::unique_ptr<Directory>> other = files().open_directory(child_path("other"));
  ASSERT_TRUE(is_ok(other));
  const Bytes content = bytes_by_seed(8, 10'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", content)));
  ASSERT_TRUE(is_ok(directory().link("a", **other)));
  ASSERT_TRUE(is_ok((*other)->sync(kPoint)));
  EXPECT_EQ(names_in(**other), std::vector<std::string>{"a"});
  expect_content("a", content);

  ASSERT_TRUE(is_ok(directory().remove("a")));
  EXPECT_TRUE(names_in(directory()).empty());
  for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
    const Result<Bytes> found = read_whole(**other, "a", mode);
    ASSERT_TRUE(is_ok(found));
    EXPECT_TRUE(*found == content);
  }
  ASSERT_TRUE(is_ok((*other)->link("a", directory()))) << "and back";
  expect_content("a", content);
}

TEST_P(LocalFileSystemContract, ALinkNeverTakesANameThatIsThere) {
  ASSERT_TRUE(is_ok(files().create_directory(child_path("other"), kPoint)));
  Result<std::unique_ptr<Directory>> other = files().open_directory(child_path("other"));
  ASSERT_TRUE(is_ok(other));
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("mine"))));
  ASSERT_TRUE(is_ok(write_whole(**other, "a", bytes_of("kept"))));
  EXPECT_TRUE(fails_with(directory().link("a", **other), EEXIST, child_path("other") + "/a"));
  EXPECT_TRUE(fails_with(directory().link("a", directory()), EEXIST, path() + "/a"));
  const Result<Bytes> found = read_whole(**other, "a");
  ASSERT_TRUE(is_ok(found));
  EXPECT_TRUE(*found == bytes_of("kept"));
}

TEST_P(LocalFileSystemContract, OnlyRegularFilesThatAreThereAreLinked) {
  ASSERT_TRUE(is_ok(files().create_directory(child_path("other"), kPoint)));
  ASSERT_TRUE(is_ok(files().create_directory(path() + "/sub", kPoint)));
  Result<std::unique_ptr<Directory>> other = files().open_directory(child_path("other"));
  ASSERT_TRUE(is_ok(other));
  EXPECT_TRUE(fails_with(directory().link("absent", **other), ENOENT, path() + "/absent"));
  EXPECT_TRUE(fails_with(directory().link("sub", **other), Code::kCorruption, path() + "/sub"));
  EXPECT_TRUE(names_in(**other).empty());
}

TEST_P(LocalFileSystemContract, DirectoriesOfDifferentFileSystemsAreNotLinked) {
  MemoryFileSystem elsewhere;
  ASSERT_TRUE(is_ok(elsewhere.create_directory("/far", kPoint)));
  Result<std::unique_ptr<Directory>> far = elsewhere.open_directory("/far");
  ASSERT_TRUE(is_ok(far));
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("x"))));
  EXPECT_TRUE(fails_with(directory().link("a", **far), Code::kUnsupported, path() + "/a"));
  EXPECT_TRUE(names_in(**far).empty());
}

// -- Replacement ------------------------------------------------------------------------------------------------------

TEST_P(FileSystemContract, ReplaceGoesFromWhatIsExpectedAlone) {
  const Bytes first = bytes_of("first");
  const Bytes second = bytes_of("the second, and longer");
  EXPECT_TRUE(fails_with(directory().replace("CURRENT", first, second, kPoint), Code::kPreconditionFailed, "CURRENT"));
  EXPECT_TRUE(names_in(directory()).empty()) << "nothing changed";

  ASSERT_TRUE(is_ok(directory().replace("CURRENT", {}, first, kPoint)));
  expect_content("CURRENT", first);
  EXPECT_TRUE(fails_with(directory().replace("CURRENT", {}, second, kPoint), Code::kPreconditionFailed, "CURRENT"));
  EXPECT_TRUE(fails_with(directory().replace("CURRENT", bytes_of("fIrst"), second, kPoint), Code::kPreconditionFailed));
  EXPECT_TRUE(
      fails_with(directory().replace("CURRENT", bytes_of("first!"), second, kPoint), Code::kPreconditionFailed));
  expect_content("CURRENT", first);

  ASSERT_TRUE(is_ok(directory().replace("CURRENT", first, second, kPoint)));
  expect_content("CURRENT", second);
  ASSERT_TRUE(is_ok(directory().replace("CURRENT", second, first, kPoint)));
  expect_content("CURRENT", first);
  EXPECT_EQ(names_in(directory()), std::vector<std::string>{"CURRENT"}) << "no temporary stays";
}

TEST_P(FileSystemContract, AnEmptyFileIsNotAnAbsentOne) {
  ASSERT_TRUE(is_ok(directory().create("CURRENT")));
  EXPECT_TRUE(fails_with(directory().replace("CURRENT", {}, bytes_of("x"), kPoint), Code::kPreconditionFailed));
  expect_content("CURRENT", {});
}

TEST_P(FileSystemContract, ReplaceTakesOneByteToFourMebibytes) {
  const Bytes largest = bytes_by_seed(6, 4 << 20);
  const Bytes above = bytes_by_seed(6, (4 << 20) + 1);
  EXPECT_TRUE(fails_with(directory().replace("CURRENT", {}, {}, kPoint), Code::kInvalidArgument, "CURRENT"));
  EXPECT_TRUE(fails_with(directory().replace("CURRENT", {}, above, kPoint), Code::kInvalidArgument, "CURRENT"));
  EXPECT_TRUE(names_in(directory()).empty());
  ASSERT_TRUE(is_ok(directory().replace("CURRENT", {}, bytes_of("x"), kPoint)));
  ASSERT_TRUE(is_ok(directory().replace("CURRENT", bytes_of("x"), largest, kPoint)));
  expect_content("CURRENT", largest);
}

// -- Locks ------------------------------------------------------------------------------------------------------------

TEST_P(LocalFileSystemContract, AnExclusiveLockExcludesEveryOtherAlsoInThisProcess) {
  std::unique_ptr<Directory> other = open_again();
  {
    Result<std::unique_ptr<DirectoryLock>> lock = directory().lock("LOCK", LockMode::kExclusive, milliseconds(0));
    ASSERT_TRUE(is_ok(lock));
    EXPECT_TRUE(is_ok((*lock)->check()));
    EXPECT_EQ(names_in(directory()), std::vector<std::string>{"LOCK"});
    for (Directory* again : {&directory(), other.get()}) {
      for (const LockMode mode : {LockMode::kExclusive, LockMode::kShared}) {
        EXPECT_TRUE(fails_with(again->lock("LOCK", mode, milliseconds(0)), Code::kLocked, path() + "/LOCK"));
        EXPECT_TRUE(fails_with(again->lock("LOCK", mode, milliseconds(5)), Code::kLocked, path() + "/LOCK"));
      }
    }
  }
  EXPECT_TRUE(is_ok(other->lock("LOCK", LockMode::kExclusive, milliseconds(0)))) << "its destruction released it";
}

TEST_P(LocalFileSystemContract, SharedLocksExcludeExclusiveOnesAlone) {
  {
    const auto shared = directory().lock("LOCK", LockMode::kShared, milliseconds(0));
    ASSERT_TRUE(is_ok(shared));
    EXPECT_TRUE(names_in(directory()).empty()) << "a shared lock makes no file";
    EXPECT_TRUE(fails_with(open_again()->lock("LOCK", LockMode::kExclusive, milliseconds(0)), Code::kLocked, "LOCK"));
  }
  ASSERT_TRUE(is_ok(directory().lock("LOCK", LockMode::kExclusive, milliseconds(0))));

  std::unique_ptr<Directory> other = open_again();
  Result<std::unique_ptr<DirectoryLock>> first = directory().lock("LOCK", LockMode::kShared, milliseconds(0));
  ASSERT_TRUE(is_ok(first));
  Result<std::unique_ptr<DirectoryLock>> second = other->lock("LOCK", LockMode::kShared, milliseconds(0));
  ASSERT_TRUE(is_ok(second));
  EXPECT_TRUE(fails_with(directory().lock("LOCK", LockMode::kExclusive, milliseconds(0)), Code::kLocked));
  first->reset();
  EXPECT_TRUE(fails_with(directory().lock("LOCK", LockMode::kExclusive, milliseconds(0)), Code::kLocked));
  second->reset();
  EXPECT_TRUE(is_ok(directory().lock("LOCK", LockMode::kExclusive, milliseconds(0))));
}

TEST_P(LocalFileSystemContract, TheLockHoldsWithoutItsFileAndUnderAnyName) {
  const std::unique_ptr<Directory> other = open_again();
  Result<std::unique_ptr<DirectoryLock>> lock = directory().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  EXPECT_TRUE(is_ok(directory().confirm_owner()));
  ASSERT_TRUE(is_ok(other->remove("LOCK")));
  EXPECT_TRUE(fails_with(other->lock("LOCK", LockMode::kExclusive, milliseconds(0)), Code::kLocked));
  EXPECT_TRUE(fails_with(other->lock("LOCK", LockMode::kShared, milliseconds(0)), Code::kLocked));
  EXPECT_TRUE(fails_with(other->lock("LOCK2", LockMode::kExclusive, milliseconds(0)), Code::kLocked));
  EXPECT_TRUE(is_ok(directory().confirm_owner()));
}

TEST_P(FileSystemContract, ALogSegmentThatLostItsNameTakesNoMoreWrites) {
  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  Result<std::unique_ptr<LogSegment>> segment = directory().create_log_segment("1.wal", 4 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  ASSERT_TRUE(is_ok((*segment)->write(0, sector.bytes(), kPoint)));
  ASSERT_TRUE(is_ok(directory().remove("1.wal")));
  EXPECT_TRUE(fails_with((*segment)->write(kSectorBytes, sector.bytes(), kPoint), Code::kFenced, path() + "/1.wal"));
}

TEST_P(LocalFileSystemContract, LocksOfOtherDirectoriesAreOthers) {
  ASSERT_TRUE(is_ok(files().create_directory(child_path("other"), kPoint)));
  Result<std::unique_ptr<Directory>> other = files().open_directory(child_path("other"));
  ASSERT_TRUE(is_ok(other));
  Result<std::unique_ptr<DirectoryLock>> first = directory().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  Result<std::unique_ptr<DirectoryLock>> second = (*other)->lock("LOCK", LockMode::kExclusive, milliseconds(0));
  EXPECT_TRUE(is_ok(first));
  EXPECT_TRUE(is_ok(second));
}

TEST_P(LocalFileSystemContract, LockWaitsForAHolderThatIsGoingAway) {
  Result<std::unique_ptr<DirectoryLock>> held = directory().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(held));
  std::atomic<bool> waiting{false};
  Status outcome(Code::kUnknown);
  std::thread waiter([&] {
    waiting = true;
    outcome = status_of(directory().lock("LOCK", LockMode::kExclusive, milliseconds::max()));
  });
  while (!waiting) std::this_thread::yield();
  held->reset();
  waiter.join();
  EXPECT_TRUE(is_ok(outcome));
}

// -- Ballast ----------------------------------------------------------------------------------------------------------

TEST_P(LocalFileSystemContract, BallastHasNoContentAtAnySize) {
  for (const std::uint64_t bytes : {2 * kMiB, 3 * kMiB, kMiB, std::uint64_t{0}, kMiB, std::uint64_t{0}}) {
    SCOPED_TRACE(bytes);
    ASSERT_TRUE(is_ok(directory().set_ballast("BALLAST", bytes)));
    Result<std::vector<DirectoryEntry>> entries = directory().list();
    ASSERT_TRUE(is_ok(entries));
    ASSERT_EQ(entries->size(), 1U);
    EXPECT_EQ(entries->front().name, "BALLAST");
    EXPECT_EQ(entries->front().size_bytes, 0U);
    EXPECT_TRUE(entries->front().regular_file);
  }
  EXPECT_TRUE(is_ok(directory().remove("BALLAST")));
}

TEST_P(LocalFileSystemContract, GivingUpBallastThatWasNeverHeldMakesTheFile) {
  ASSERT_TRUE(is_ok(directory().set_ballast("BALLAST", 0)));
  EXPECT_EQ(names_in(directory()), std::vector<std::string>{"BALLAST"});
}

INSTANTIATE_TEST_SUITE_P(Every, FileSystemContract, every_file_system(),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Every, LocalFileSystemContract, every_local_file_system(),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace varve::io::file_system_contract_test
