// Directories of the plain-call back end: limits, read-only file systems, failed syncs, and foreign files.
#include "io/posix/posix_directory.h"

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/child_process.h"
#include "tests/io/posix/interposed_transfers.h"
#include "tests/io/posix/posix_test_support.h"
#include "tests/io/posix/refused_system_calls.h"
#include "tests/io/posix/small_file_system.h"

namespace varve::io::posix_directory_test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

using PosixDirectoryTest = PosixTest;

std::uint64_t space_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * 512 : UINT64_MAX;
}

// -- Paths ------------------------------------------------------------------------------------------------------------

TEST_F(PosixDirectoryTest, PathsThatAreNoneAreRefused) {
  PosixFileSystem files;
  const std::string_view with_nul("/tmp\0/x", 7);
  for (const std::string_view path : {std::string_view(), with_nul}) {
    EXPECT_TRUE(fails_with(files.open_directory(path), Code::kInvalidArgument));
    EXPECT_TRUE(fails_with(files.create_directory(path, kTestPoint), Code::kInvalidArgument));
  }
  const std::string_view name_with_nul("a\0b", 3);
  for (const std::string_view name : {std::string_view("."), std::string_view(".."), name_with_nul}) {
    EXPECT_TRUE(fails_with(directory().create(name), Code::kInvalidArgument, path()));
    EXPECT_TRUE(fails_with(directory().remove(name), Code::kInvalidArgument, path()));
  }
  EXPECT_TRUE(fails_with(directory().create(std::string(300, 'n')), ENAMETOOLONG, "too long"));
}

TEST_F(PosixDirectoryTest, DirectoriesAreMadeByEveryWayToWriteTheirPath) {
  PosixFileSystem files;
  EXPECT_TRUE(is_ok(files.create_directory(path_of("a"), kTestPoint)));
  EXPECT_TRUE(is_ok(files.create_directory(path_of("b/"), kTestPoint)));
  EXPECT_TRUE(is_ok(files.create_directory(path_of("a/../c"), kTestPoint)));
  EXPECT_TRUE(is_ok(files.create_directory("/", kTestPoint)));
  EXPECT_TRUE(is_ok(files.create_directory(".", kTestPoint)));
  EXPECT_EQ(names_in(directory()), (std::vector<std::string>{"a", "b", "c"}));

  ASSERT_EQ(::symlink("a", path_of("alias").c_str()), 0);
  EXPECT_TRUE(is_ok(files.create_directory(path_of("alias"), kTestPoint)));
  ASSERT_EQ(::symlink("nowhere", path_of("dangling").c_str()), 0);
  EXPECT_TRUE(fails_with(files.create_directory(path_of("dangling"), kTestPoint), ENOENT));
  ASSERT_EQ(::symlink("loop", path_of("loop").c_str()), 0);
  const Status looped = files.open_directory(path_of("loop/x")).status();
  EXPECT_EQ(looped.os_error(), ELOOP);
  EXPECT_TRUE(fails_with(looped, Code::kIoError, "symbolic links"));
}

TEST_F(PosixDirectoryTest, AParentThatCannotBeSyncedIsAnError) {
  const std::string answer = in_child([&] {
    PosixFileSystem files;
    refuse_system_calls({{SYS_fsync, EIO}});
    return told(files.create_directory(path_of("a"), {"store directory"}));
  });
  EXPECT_EQ(answer, "IoError: fsync " + path_of("a") + "/.. (store directory): Input/output error");
}

TEST_F(PosixDirectoryTest, ADirectoryThatIsMovedStaysTheOneThatWasOpened) {
  PosixFileSystem files;
  ASSERT_TRUE(is_ok(files.create_directory(path_of("before"), kTestPoint)));
  std::unique_ptr<Directory> opened = open_at_path(path_of("before"));
  ASSERT_EQ(::rename(path_of("before").c_str(), path_of("after").c_str()), 0);
  ASSERT_TRUE(is_ok(files.create_directory(path_of("before"), kTestPoint)));
  ASSERT_TRUE(is_ok(write_whole(*opened, "a", bytes_of("x"))));
  EXPECT_EQ(names_in(*open_at_path(path_of("after"))), std::vector<std::string>{"a"});
  EXPECT_TRUE(names_in(*open_at_path(path_of("before"))).empty());
}

TEST_F(PosixDirectoryTest, ListShowsLinksAsWhatTheyAre) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "real", bytes_of("12345"))));
  ASSERT_EQ(::symlink("real", path_of("link").c_str()), 0);
  const Result<std::vector<DirectoryEntry>> entries = directory().list();
  ASSERT_TRUE(is_ok(entries));
  ASSERT_EQ(entries->size(), 2U);
  for (const DirectoryEntry& entry : *entries) EXPECT_EQ(entry.regular_file, entry.name == "real") << entry.name;
  const Result<std::vector<DirectoryEntry>> names = directory().list_names();
  ASSERT_TRUE(is_ok(names));
  ASSERT_EQ(names->size(), 2U);
  for (const DirectoryEntry& entry : *names) EXPECT_EQ(entry.regular_file, entry.name == "real") << entry.name;
}

TEST_F(PosixDirectoryTest, ListsAtTheSameTimeAreEachComplete) {
  for (int file = 0; file < 300; ++file) ASSERT_TRUE(is_ok(directory().create(std::to_string(file))));
  std::vector<std::size_t> counts(4);
  std::vector<std::thread> threads;
  for (std::size_t& count : counts) {
    threads.emplace_back([&] {
      const Result<std::vector<DirectoryEntry>> entries = directory().list();
      count = entries.ok() ? entries->size() : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts, std::vector<std::size_t>(4, 300));
}

// -- Descriptors ------------------------------------------------------------------------------------------------------

// The descriptors of an open store are those that /proc shows with files in its directory.
TEST_F(PosixDirectoryTest, StandardDescriptorsAreNeverUsedAndAllAreClosedOnExec) {
  const std::string answer = in_child([&] {
    for (int standard = 0; standard < 3; ++standard) ::close(standard);
    std::unique_ptr<Directory> own = open_at_path(path());
    auto file = own->create("a");
    auto segment = own->create_log_segment("b", kSectorBytes);
    auto memory = own->create_shared_memory("c", kSectorBytes);
    auto lock = own->lock("LOCK", LockMode::kExclusive, milliseconds(0));
    auto reader = own->open("a", ReadMode::kDirect);
    auto list = own->list();
    const Status replaced = own->replace("CURRENT", {}, bytes_of("x"), kTestPoint);
    const Status ballast = own->set_ballast("BALLAST", kSectorBytes);
    if (!file.ok() || !segment.ok() || !memory.ok() || !lock.ok() || !reader.ok() || !list.ok()) return told(list);
    if (!replaced.ok() || !ballast.ok()) return told(replaced) + told(ballast);
    int open_descriptors = 0;
    for (int descriptor = 0; descriptor < 10; ++descriptor) {
      const int flags = ::fcntl(descriptor, F_GETFD);
      if (flags < 0) continue;
      ++open_descriptors;
      if (descriptor < 3) return "uses descriptor " + std::to_string(descriptor);
    }
    return std::to_string(open_descriptors >= 5);
  });
  EXPECT_EQ(answer, "1");
}

TEST_F(PosixDirectoryTest, DescriptorsDoNotPassThroughExec) {
  auto file = directory().create("a");
  auto segment = directory().create_log_segment("b", kSectorBytes);
  auto lock = directory().lock("LOCK", LockMode::kExclusive, milliseconds(0));
  auto reader = directory().open("a", ReadMode::kDirect);
  ASSERT_TRUE(file.ok() && segment.ok() && lock.ok() && reader.ok());
  int found = 0;
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    char target[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (::readlink(link.c_str(), target, sizeof target - 1) < 0) continue;
    if (std::string_view(target).find(path()) == std::string_view::npos) continue;
    ++found;
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0) << target;
  }
  EXPECT_GE(found, 5);
}

/// Returns the codes of every operation that opens a file, in a directory where each can succeed once.
std::string open_by_every_verb(Directory& directory) {
  PosixFileSystem files;
  std::string words;
  for (const std::string& code :
       {code_of(directory.create("a")), code_of(directory.open("there", ReadMode::kCached)),
        code_of(directory.create_log_segment("b", kSectorBytes)),
        code_of(directory.create_shared_memory("c", kSectorBytes)), code_of(directory.list()),
        code_of(directory.lock("LOCK", LockMode::kExclusive, milliseconds(0))),
        code_of(directory.replace("CURRENT", {}, bytes_of("x"), kTestPoint)), code_of(directory.set_ballast("d", 0)),
        code_of(files.open_directory(directory.path()))}) {
    words += words.empty() ? code : " " + code;
  }
  return words;
}

std::string repeated(const std::string& word, int count) {
  std::string words = word;
  for (int more = 1; more < count; ++more) words += " " + word;
  return words;
}

TEST_F(PosixDirectoryTest, OutOfDescriptorsIsTooManyFilesAndLeavesNothing) {
  for (const char* name : {"enough", "none"}) {
    ASSERT_EQ(::mkdir(path_of(name).c_str(), 0700), 0);
    ASSERT_TRUE(is_ok(write_whole(*open_at_path(path_of(name)), "there", bytes_of("x"))));
  }
  for (const char* name : {"wrong", "wrong/a", "wrong/there", "wrong/b", "wrong/c", "wrong/LOCK", "wrong/d"}) {
    ASSERT_EQ(::mkdir(path_of(name).c_str(), 0700), 0);
  }
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> enough = open_at_path(path_of("enough"));
    std::unique_ptr<Directory> wrong = open_at_path(path_of("wrong"));
    std::unique_ptr<Directory> none = open_at_path(path_of("none"));
    // Each operation runs once with success and once with failure before: the undefined-behaviour sanitizer opens a
    // pipe when it checks a type for the first time.
    const std::string before = open_by_every_verb(*enough);
    (void)open_by_every_verb(*wrong);
    const int next = ::dup(0);
    const rlimit limit{static_cast<rlim_t>(next), static_cast<rlim_t>(next)};
    ::close(next);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return std::string("setrlimit failed");
    while (::dup(0) >= 0) continue;
    const std::string after = open_by_every_verb(*none);
    return before + "\n" + after + "\n" + told(none->create("a"));
  });
  EXPECT_EQ(answer,
            repeated("Ok", 9) + "\n" + repeated("TooManyFiles", 9) + "\nTooManyFiles: openat " + path_of("none/a") +
                ": Too many open files (raise the limit of the process, ulimit -n; it counts every open file and "
                "connection)");
  EXPECT_EQ(names_in(*open_at_path(path_of("none"))), std::vector<std::string>{"there"});
}

// The file gets descriptor 0, 1 or 2, and no other descriptor is available.
TEST_F(PosixDirectoryTest, AFileThatCouldNotLeaveTheStandardDescriptorsIsNotLeftBehind) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    refuse_system_calls({{SYS_fcntl, EMFILE, {{1, F_DUPFD_CLOEXEC}}}});
    ::close(0);
    return told(own->create("a"));
  });
  EXPECT_EQ(answer.find("TooManyFiles: fcntl(F_DUPFD_CLOEXEC) " + path_of("a")), 0U) << answer;
  EXPECT_TRUE(names_in(directory()).empty());
}

// -- Links ------------------------------------------------------------------------------------------------------------

TEST_F(PosixDirectoryTest, WhereThereAreNoLinksTheRefusalSaysToCopy) {
  ASSERT_EQ(::mkdir(path_of("other").c_str(), 0700), 0);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("x"))));
  for (const int error : {EXDEV, EPERM, EOPNOTSUPP, ENOSYS, EMLINK}) {
    const std::string answer = in_child([&] {
      std::unique_ptr<Directory> own = open_at_path(path());
      std::unique_ptr<Directory> other = open_at_path(path_of("other"));
      refuse_system_calls({{SYS_linkat, error}});
      return told(own->link("a", *other));
    });
    EXPECT_EQ(answer.find("Unsupported: linkat " + path_of("other/a")), 0U) << answer;
  }
  const std::string full = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    std::unique_ptr<Directory> other = open_at_path(path_of("other"));
    refuse_system_calls({{SYS_linkat, ENOSPC}});
    return told(own->link("a", *other));
  });
  EXPECT_EQ(full, "NoSpace: linkat " + path_of("other/a") + ": No space left on device");
  EXPECT_TRUE(names_in(*open_at_path(path_of("other"))).empty());
}

TEST_F(PosixDirectoryTest, ASymbolicLinkInTheShapeOfAFileIsNotLinked) {
  ASSERT_EQ(::mkdir(path_of("other").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("other", path_of("link").c_str()), 0);
  std::unique_ptr<Directory> other = open_at_path(path_of("other"));
  EXPECT_TRUE(fails_with(directory().link("link", *other), Code::kCorruption, path_of("link")));
  EXPECT_TRUE(names_in(*other).empty());
}

// -- Read-only and forbidden ------------------------------------------------------------------------------------------

TEST_F(PosixDirectoryTest, AReadOnlyFileSystemIsReadAndNeverWritten) {
  ASSERT_EQ(::mkdir(path_of("ro").c_str(), 0700), 0);
  const std::string answer = in_child([&] {
    const std::string where = path_of("ro");
    const bool mounted = mount_small(where, "size=1m");
    PosixFileSystem files;
    std::unique_ptr<Directory> own = open_at_path(where);
    if (!write_whole(*own, "a", bytes_of("12345")).ok()) return std::string("cannot prepare");
    if (!own->lock("LOCK", LockMode::kExclusive, milliseconds(0)).ok()) return std::string("cannot prepare");
    if (!mounted || !make_read_only(where)) {
      // If mounting is not permitted, the kernel is made to answer like a read-only file system.
      refuse_system_calls({{SYS_openat, EROFS, {{2, O_RDWR, O_ACCMODE}}},
                           {SYS_openat, EROFS, {{2, O_WRONLY, O_ACCMODE}}},
                           {SYS_unlinkat, EROFS},
                           {SYS_mkdir, EROFS}});
    }
    const Result<Bytes> content = read_whole(*own, "a", ReadMode::kDirect);
    std::string words = content.ok() && *content == bytes_of("12345") ? "read" : told(content);
    for (const std::string& outcome : {code_of(own->create("b")), code_of(own->create_log_segment("b", kSectorBytes)),
                                       code_of(own->create_shared_memory("b", kSectorBytes)), code_of(own->remove("a")),
                                       code_of(own->replace("CURRENT", {}, bytes_of("x"), kTestPoint)),
                                       code_of(own->set_ballast("BALLAST", kSectorBytes)),
                                       code_of(own->lock("LOCK", LockMode::kExclusive, milliseconds(0))),
                                       code_of(files.create_directory(where + "/sub", kTestPoint)),
                                       code_of(own->lock("LOCK", LockMode::kShared, milliseconds(0))),
                                       code_of(files.create_directory(where, kTestPoint))}) {
      words += " " + outcome;
    }
    return words + " " + std::to_string(names_in(*own).size());
  });
  EXPECT_EQ(answer, "read IoError IoError IoError IoError IoError IoError IoError IoError Ok Ok 2");
}

TEST_F(PosixDirectoryTest, APermissionThatIsMissingIsSaidSo) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    refuse_system_calls({{SYS_openat, EACCES}});
    return told(own->create("a"));
  });
  EXPECT_EQ(answer.find("IoError: openat " + path_of("a") + ": Permission denied (the owner and mode"), 0U) << answer;
}

// -- Failed syncs -----------------------------------------------------------------------------------------------------

/// Returns the descriptor under which this process has `path` open.
int descriptor_of(const std::string& path) {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    char target[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (::readlink(link.c_str(), target, sizeof target - 1) >= 0 && path == target) return descriptor;
  }
  return -1;
}

RefusedCall sync_of(const std::string& path) {
  return {SYS_fsync, EIO, {{0, static_cast<std::uint32_t>(descriptor_of(path))}}};
}

TEST_F(PosixDirectoryTest, AFailedDirectorySyncIsTheAnswerOfEveryLaterOne) {
  ASSERT_EQ(::mkdir(path_of("store").c_str(), 0700), 0);
  const std::string where = path_of("store");
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(where);
    refuse_system_calls({sync_of(where)});
    const std::string first = told(own->sync({"first"}));
    const bool kept =
        told(own->sync({"second"})) == first && told(own->replace("CURRENT", {}, bytes_of("x"), {"third"})) == first;
    return first + (kept ? "" : ", not kept") + "\n" + code_of(own->create("a"));
  });
  EXPECT_EQ(answer, "IoError: fsync " + where + " (first): Input/output error\nOk");
  EXPECT_EQ(names_in(*open_at_path(where)), std::vector<std::string>{"a"});
}

TEST_F(PosixDirectoryTest, AReplacementWhoseDirectorySyncFailedSaysSo) {
  ASSERT_EQ(::mkdir(path_of("store").c_str(), 0700), 0);
  const std::string where = path_of("store");
  ASSERT_TRUE(is_ok(write_whole(*open_at_path(where), "CURRENT", bytes_of("old"))));
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(where);
    refuse_system_calls({sync_of(where)});
    const std::string first = told(own->replace("CURRENT", bytes_of("old"), bytes_of("new"), {"root marker"}));
    return first + "\n" + (told(own->sync(kTestPoint)) == first ? "kept" : "forgotten");
  });
  EXPECT_EQ(answer, "IoError: fsync " + where + " (root marker): Input/output error\nkept");
}

TEST_F(PosixDirectoryTest, AReplacementThatFailsBeforeItsRenameChangesNothing) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "CURRENT", bytes_of("old"))));
  for (const long call : {SYS_fsync, SYS_renameat, SYS_pwrite64}) {
    SCOPED_TRACE(call);
    const std::string answer = in_child([&] {
      std::unique_ptr<Directory> own = open_at_path(path());
      refuse_system_calls({{call, EIO}, {call == SYS_renameat ? SYS_renameat2 : call, EIO}});
      return told(own->replace("CURRENT", bytes_of("old"), bytes_of("new"), {"root marker"}));
    });
    EXPECT_NE(answer.find("(root marker): Input/output error"), std::string::npos) << answer;
    EXPECT_EQ(names_in(directory()), std::vector<std::string>{"CURRENT"});
    EXPECT_TRUE(*read_whole(directory(), "CURRENT") == bytes_of("old"));
  }
}

// -- Obstacles to a replacement ---------------------------------------------------------------------------------------

TEST_F(PosixDirectoryTest, ATemporaryOfAnEarlierCrashIsReplacedAndNotWrittenThrough) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "precious", bytes_of("kept"))));
  ASSERT_EQ(::symlink("precious", path_of("CURRENT.tmp").c_str()), 0);
  ASSERT_TRUE(is_ok(directory().replace("CURRENT", {}, bytes_of("1"), kTestPoint)));
  ASSERT_EQ(::link(path_of("precious").c_str(), path_of("CURRENT.tmp").c_str()), 0);
  ASSERT_TRUE(is_ok(directory().replace("CURRENT", bytes_of("1"), bytes_of("2"), kTestPoint)));
  ASSERT_TRUE(is_ok(write_whole(directory(), "CURRENT.tmp", bytes_of("half a replacem"))));
  ASSERT_TRUE(is_ok(directory().replace("CURRENT", bytes_of("2"), bytes_of("3"), kTestPoint)));
  EXPECT_TRUE(*read_whole(directory(), "CURRENT") == bytes_of("3"));
  EXPECT_TRUE(*read_whole(directory(), "precious") == bytes_of("kept"));
  EXPECT_EQ(names_in(directory()), (std::vector<std::string>{"CURRENT", "precious"}));

  ASSERT_EQ(::mkdir(path_of("CURRENT.tmp").c_str(), 0700), 0);
  EXPECT_FALSE(directory().replace("CURRENT", bytes_of("3"), bytes_of("4"), kTestPoint).ok());
  EXPECT_TRUE(*read_whole(directory(), "CURRENT") == bytes_of("3"));
}

TEST_F(PosixDirectoryTest, ARootThatIsALinkOrADirectoryIsRefused) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "real", bytes_of("x"))));
  ASSERT_EQ(::symlink("real", path_of("CURRENT").c_str()), 0);
  EXPECT_TRUE(fails_with(directory().replace("CURRENT", bytes_of("x"), bytes_of("y"), kTestPoint), Code::kCorruption,
                         "symbolic link"));
  ASSERT_EQ(::mkdir(path_of("DIRECTORY").c_str(), 0700), 0);
  EXPECT_TRUE(fails_with(directory().replace("DIRECTORY", {}, bytes_of("y"), kTestPoint), Code::kCorruption));
  EXPECT_TRUE(*read_whole(directory(), "real") == bytes_of("x"));
}

// -- Ballast ----------------------------------------------------------------------------------------------------------

TEST_F(PosixDirectoryTest, BallastHoldsTheSpaceItWasAskedToAndGivesItUp) {
  const std::string ballast = path_of("BALLAST");
  ASSERT_TRUE(is_ok(directory().set_ballast("BALLAST", 4 * kMiB)));
  EXPECT_GE(space_of(ballast), 4 * kMiB);
  ASSERT_TRUE(is_ok(directory().set_ballast("BALLAST", 6 * kMiB)));
  EXPECT_GE(space_of(ballast), 6 * kMiB);
  ASSERT_TRUE(is_ok(directory().set_ballast("BALLAST", 2 * kMiB)));
  EXPECT_GE(space_of(ballast), 2 * kMiB);
  EXPECT_LT(space_of(ballast), 3 * kMiB);
  ASSERT_TRUE(is_ok(directory().set_ballast("BALLAST", 0)));
  EXPECT_LT(space_of(ballast), kMiB);
}

TEST_F(PosixDirectoryTest, BallastOverContentGivesTheContentUp) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "BALLAST", Bytes(10'000))));
  ASSERT_TRUE(is_ok(directory().set_ballast("BALLAST", kMiB)));
  const Result<Bytes> content = read_whole(directory(), "BALLAST");
  ASSERT_TRUE(is_ok(content));
  EXPECT_TRUE(content->empty());
  EXPECT_GE(space_of(path_of("BALLAST")), kMiB);
}

TEST_F(PosixDirectoryTest, BallastWhereItIsNotSupportedHoldsNothingWithSuccess) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    refuse_system_calls({{SYS_fallocate, EOPNOTSUPP}});
    return told(own->set_ballast("BALLAST", kMiB));
  });
  EXPECT_EQ(answer, "Ok");
  EXPECT_LT(space_of(path_of("BALLAST")), kMiB);
}

TEST_F(PosixDirectoryTest, BallastThatIsRefusedKeepsWhatWasHeld) {
  ASSERT_EQ(::mkdir(path_of("full").c_str(), 0700), 0);
  const std::string where = path_of("full");
  const std::string answer = in_child([&] {
    const bool mounted = mount_small(where, "size=4m");
    std::unique_ptr<Directory> own = open_at_path(where);
    const std::string first = code_of(own->set_ballast("BALLAST", 2 * kMiB));
    if (!mounted) refuse_system_calls({{SYS_fallocate, ENOSPC}});
    const std::string more = code_of(own->set_ballast("BALLAST", 8 * kMiB));
    const bool held = space_of(where + "/BALLAST") >= 2 * kMiB;
    const std::string other = code_of(own->set_ballast("OTHER", 8 * kMiB));
    return first + " " + more + (held ? " held " : " lost ") + other + " " +
           std::to_string(space_of(where + "/OTHER") < kMiB);
  });
  EXPECT_EQ(answer, "Ok NoSpace held NoSpace 1");
}

TEST_F(PosixDirectoryTest, AllocationThatFailsHalfWayLeavesNoSpaceBehindThatWasNotHeldBefore) {
  {
    const HalfAllocations allocations(ENOSPC);
    EXPECT_TRUE(fails_with(directory().set_ballast("BALLAST", 4 * kMiB), Code::kNoSpace, path_of("BALLAST")));
  }
  EXPECT_LT(space_of(path_of("BALLAST")), kMiB);
  ASSERT_TRUE(is_ok(directory().set_ballast("BALLAST", 2 * kMiB)));
  {
    const HalfAllocations allocations(ENOSPC);
    EXPECT_TRUE(fails_with(directory().set_ballast("BALLAST", 8 * kMiB), Code::kNoSpace, path_of("BALLAST")));
    EXPECT_TRUE(fails_with(directory().create_log_segment("1.wal", 2 * kMiB), Code::kNoSpace, path_of("1.wal")));
    EXPECT_TRUE(fails_with(directory().create_shared_memory("2.buf", 2 * kMiB), Code::kNoSpace, path_of("2.buf")));
  }
  EXPECT_GE(space_of(path_of("BALLAST")), 2 * kMiB);
  EXPECT_EQ(names_in(directory()), std::vector<std::string>{"BALLAST"});
}

TEST_F(PosixDirectoryTest, BallastThroughALinkIsRefused) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "precious", bytes_of("kept"))));
  ASSERT_EQ(::symlink("precious", path_of("BALLAST").c_str()), 0);
  EXPECT_TRUE(fails_with(directory().set_ballast("BALLAST", 0), Code::kCorruption, "symbolic link"));
  EXPECT_TRUE(*read_whole(directory(), "precious") == bytes_of("kept"));
}

}  // namespace
}  // namespace varve::io::posix_directory_test
