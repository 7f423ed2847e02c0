// Goal: if any system call of an operation of the plain-call back end fails, the operation returns that error with the
// name of the call. It leaves no file that it created. If the call is not essential, the operation succeeds without it.
// Method: a table of operations and of the calls that are refused to them, each in a child whose kernel refuses them.
#include <cerrno>
#include <functional>
#include <ostream>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/posix/posix_directory.h"
#include "io/posix/posix_file.h"
#include "io/posix/posix_handle.h"
#include "io/posix/posix_process.h"
#include "tests/io/child_process.h"
#include "tests/io/posix/interposed_transfers.h"
#include "tests/io/posix/posix_test_support.h"
#include "tests/io/posix/refused_system_calls.h"
#include "tests/io/posix/small_file_system.h"

namespace varve::io::posix_refusal_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint32_t kWriteZeroes = 0x80;  // FALLOC_FL_WRITE_ZEROES

using std::chrono::milliseconds;

/// The C library uses one of two calls for the state of an open file.
std::vector<RefusedCall> stat_of_open_files(int error) {
  return {{SYS_fstat, error}, {SYS_newfstatat, error, {{3, AT_EMPTY_PATH, AT_EMPTY_PATH}}}};
}

RefusedCall flags_set(int error, std::uint32_t flags, std::uint32_t mask) {
  return {SYS_fcntl, error, {{1, F_SETFL}, {2, flags, mask}}};
}

struct Case {
  std::string name;
  std::vector<RefusedCall> refused;
  std::function<std::string(Directory&)> verb;
  std::string answer;  // DIR is replaced by the directory
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  return out << each.name;
}

// -- The operations ---------------------------------------------------------------------------------------------------

std::string open_there(Directory& directory) {
  return told(directory.open("there", ReadMode::kCached));
}
std::string open_there_directly(Directory& directory) {
  return told(directory.open("there", ReadMode::kDirect));
}
std::string list(Directory& directory) {
  const Result<std::vector<DirectoryEntry>> entries = directory.list();
  return entries.ok() ? std::to_string(entries->size()) + " files" : told(entries);
}
std::string make_segment(Directory& directory) {
  const Status made = directory.create_log_segment("new", 2 * kMiB).status();
  if (made.ok()) (void)directory.remove("new");
  return told(made);
}
std::string make_memory(Directory& directory) {
  Result<std::unique_ptr<SharedMemory>> made = directory.create_shared_memory("new", 2 * kMiB);
  if (!made.ok()) return told(made);
  std::fill((*made)->bytes().begin(), (*made)->bytes().end(), std::byte{7});
  if (Status kept = (*made)->keep(0, (*made)->bytes().size()); !kept.ok()) return told(kept);
  const Result<Bytes> content = read_whole(directory, "new");
  (void)directory.remove("new");
  return content.ok() && *content == Bytes(2 * kMiB, std::byte{7}) ? "usable" : "unusable";
}
std::string replace_there(Directory& directory) {
  return told(directory.replace("there", bytes_of("12345"), bytes_of("6"), {"root marker"}));
}
std::string hold_ballast(Directory& directory) {
  return told(directory.set_ballast("there", kMiB));
}

std::string write_long_file(Directory& directory) {
  Result<std::unique_ptr<WritableFile>> file = directory.create("new");
  if (!file.ok()) return told(file);
  Status written = (*file)->append(Bytes(kMiB, std::byte{7}));
  if (written.ok()) written = (*file)->sync({"a long file"});
  (void)directory.remove("new");
  return told(written);
}

std::vector<Case> cases() {
  return {
      {"WriteBackOfALongFile",
       {{SYS_sync_file_range, EIO}},
       write_long_file,
       "IoError: sync_file_range DIR/new at offset 0: Input/output error"},
      {"WriteBackWhereItIsForbidden", {{SYS_sync_file_range, EPERM}}, write_long_file, "Ok"},

      {"StatOfAnOpenedFile", stat_of_open_files(EIO), open_there, "IoError: fstat DIR/there: Input/output error"},
      {"FlagsOfAnOpenedFile",
       {{SYS_fcntl, EIO, {{1, F_GETFL}}}},
       open_there,
       "IoError: fcntl(F_SETFL) DIR/there: Input/output error"},
      {"NewFlagsOfAnOpenedFile",
       {{SYS_fcntl, EIO, {{1, F_SETFL}}}},
       open_there,
       "IoError: fcntl(F_SETFL) DIR/there: Input/output error"},
      {"DirectReads",
       {flags_set(EIO, O_DIRECT, O_DIRECT)},
       open_there_directly,
       "IoError: fcntl(F_SETFL, O_DIRECT) DIR/there: Input/output error"},

      {"TheStreamOfADirectory", {{SYS_fcntl, EIO, {{1, F_GETFL}}}}, list, "IoError: fdopendir DIR: Input/output error"},
      {"TheNamesOfADirectory", {{SYS_getdents64, EIO}}, list, "IoError: readdir DIR: Input/output error"},
      {"StatOfAListedFile",
       {{SYS_newfstatat, EIO, {{3, AT_SYMLINK_NOFOLLOW}}}},
       list,
       "IoError: fstatat DIR: Input/output error"},
      {"AFileThatGoesWhileItIsListed", {{SYS_newfstatat, ENOENT, {{3, AT_SYMLINK_NOFOLLOW}}}}, list, "0 files"},

      {"DirectWritesOfASegment",
       {flags_set(EIO, O_DIRECT, O_DIRECT)},
       make_segment,
       "IoError: fcntl(F_SETFL, O_DIRECT) DIR/new: Input/output error"},
      {"TheFileSystemOfASegment", {{SYS_fstatfs, EIO}}, make_segment, "IoError: fstatfs DIR/new: Input/output error"},
      {"SpaceOfASegmentWhereNoneCanBeAskedFor", {{SYS_fallocate, ENOSYS}}, make_segment, "Ok"},
      {"FirstWriteOfASegmentWithoutAllocation",
       {{SYS_fallocate, EOPNOTSUPP}, {SYS_pwrite64, EIO}},
       make_segment,
       "IoError: pwrite DIR/new at offset 0 (log segment): Input/output error"},

      {"SpaceOfSharedMemory", {{SYS_fallocate, EIO}}, make_memory, "IoError: fallocate DIR/new: Input/output error"},
      {"SpaceOfSharedMemoryWhereNoneCanBeAskedFor", {{SYS_fallocate, EOPNOTSUPP}}, make_memory, "usable"},
      {"SpaceOfSharedMemoryOnAnOldKernel", {{SYS_fallocate, ENOSYS}}, make_memory, "usable"},
      {"ZerosOfSharedMemory",
       {{SYS_fallocate, EOPNOTSUPP}, {SYS_pwrite64, ENOSPC}},
       make_memory,
       "NoSpace: pwrite DIR/new at offset 0: No space left on device"},
      {"SyncOfSharedMemory",
       {{SYS_fdatasync, EIO}},
       make_memory,
       "IoError: fdatasync DIR/new (shared memory): Input/output error"},
      {"MappingOfSharedMemory",
       {{SYS_mmap, ENOMEM, {{1, 2 * kMiB}}}},
       make_memory,
       "OutOfMemory: mmap DIR/new: Cannot allocate memory"},
      {"ForksOfSharedMemory",
       {{SYS_madvise, EINVAL, {{2, MADV_DONTFORK}}}},
       make_memory,
       "IoError: madvise(MADV_DONTFORK) DIR/new: Invalid argument"},

      {"ReadOfWhatIsReplaced",
       {{SYS_pread64, EIO}},
       replace_there,
       "IoError: pread DIR/there at offset 0: Input/output error"},
      {"TheTemporaryOfAReplacement",
       {{SYS_openat, EIO, {{2, O_CREAT, O_CREAT}}}},
       replace_there,
       "IoError: openat DIR/there.tmp: Input/output error"},

      {"ReleaseOfBallast",
       {{SYS_ftruncate, EIO}},
       hold_ballast,
       "IoError: ftruncate DIR/there (ballast): Input/output error"},
      {"BallastOnAnOldKernel", {{SYS_fallocate, ENOSYS}}, hold_ballast, "Ok"},
      {"BallastThatCannotBeGivenBack",
       {{SYS_fallocate, ENOSPC}, {SYS_ftruncate, EIO}},
       [](Directory& directory) {
         const std::string answer = told(directory.set_ballast("new", kMiB));
         (void)directory.remove("new");
         return answer;
       },
       "IoError: ftruncate DIR/new (ballast): Input/output error"},
  };
}

class PosixRefusal : public PosixTest, public testing::WithParamInterface<Case> {};

TEST_P(PosixRefusal, IsToldByItsNameOrDoneWithout) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "there", bytes_of("12345"))));
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    refuse_system_calls(GetParam().refused);
    return GetParam().verb(*own);
  });
  std::string wanted = GetParam().answer;
  if (const std::size_t at = wanted.find(" DIR"); at != std::string::npos) wanted.replace(at + 1, 3, path());
  EXPECT_EQ(answer, wanted);
  EXPECT_EQ(names_in(directory()), std::vector<std::string>{"there"});
}

INSTANTIATE_TEST_SUITE_P(Each, PosixRefusal, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

// -- After the file is open -------------------------------------------------------------------------------------------

using PosixRefusalTest = PosixTest;

TEST_F(PosixRefusalTest, AReadThatCannotLeaveDirectModeIsAnError) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "there", bytes_of("12345"))));
  const std::string answer = in_child([&] {
    Result<std::unique_ptr<ReadableFile>> file = directory().open("there", ReadMode::kDirect);
    if (!static_cast<PosixReadableFile&>(**file).direct()) return std::string("no direct reads");
    refuse_system_calls({{SYS_fcntl, EIO, {{1, F_SETFL}}}});
    const InterposedReads reads([](const TransferCall&) { return Fate{EINVAL}; });
    Bytes bytes(5);
    return told((*file)->read_exactly(0, bytes));
  });
  if (answer != "no direct reads") {
    EXPECT_EQ(answer, "IoError: fcntl(F_SETFL) " + path_of("there") + ": Input/output error");
  }
}

TEST_F(PosixRefusalTest, ASegmentThatCannotLeaveDirectModeIsAnErrorAndLeavesNoFile) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    refuse_system_calls({flags_set(EIO, 0, O_DIRECT)});
    bool was_direct = false;
    const InterposedWrites writes([&](const TransferCall& call) {
      was_direct = was_direct || call.direct;
      return call.direct ? Fate{EINVAL} : Fate{};
    });
    const std::string made = told(own->create_log_segment("1.wal", kMiB));
    return was_direct ? made : "no direct writes";
  });
  if (answer != "no direct writes") {
    EXPECT_EQ(answer, "IoError: fcntl(F_SETFL) " + path_of("1.wal") + ": Input/output error");
    EXPECT_TRUE(names_in(directory()).empty());
  }
}

TEST_F(PosixRefusalTest, TheSizeOfAFileThatIsTooShortMayBeRefusedToo) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "there", bytes_of("12345"))));
  const std::string answer = in_child([&] {
    Result<std::unique_ptr<ReadableFile>> file = directory().open("there", ReadMode::kCached);
    refuse_system_calls(stat_of_open_files(EIO));
    Bytes bytes(6);
    return told((*file)->read_exactly(0, bytes));
  });
  EXPECT_EQ(answer, "IoError: fstat " + path_of("there") + ": Input/output error");
}

TEST_F(PosixRefusalTest, ZerosByTheDeviceAreSyncedOrWrittenByHand) {
  const struct {
    std::vector<RefusedCall> refused;
    std::string filled;
  } kinds[] = {
      {{{SYS_fallocate, EIO, {{1, kWriteZeroes}}}},
       "IoError: fallocate(FALLOC_FL_WRITE_ZEROES) " + path_of("1.wal") +
           " at offset 4096 (log segment fill): Input/output error"},
      {{{SYS_fallocate, 0, {{1, kWriteZeroes}}}, {SYS_fdatasync, EIO}},
       "IoError: fdatasync " + path_of("1.wal") + " at offset 4096 (log segment fill): Input/output error"},
      {{{SYS_fallocate, EINVAL, {{1, kWriteZeroes}}}}, "Ok"},
      {{{SYS_fallocate, ENOSYS, {{1, kWriteZeroes}}}}, "Ok"},
  };
  for (const auto& kind : kinds) {
    const std::string answer = in_child([&] {
      std::unique_ptr<Directory> own = open_at_path(path());
      Result<std::unique_ptr<LogSegment>> made = own->create_log_segment("1.wal", kMiB);
      refuse_system_calls(kind.refused);
      const std::string filled = told((*made)->fill());
      (void)own->remove("1.wal");
      const bool counted = (*made)->filled_bytes() == (filled == "Ok" ? kMiB - kSectorBytes : 0);
      return filled + (counted ? "" : ", wrongly counted");
    });
    EXPECT_TRUE(answer == kind.filled || answer == "Ok, wrongly counted") << answer;
    if (answer != kind.filled) return;  // Filling is useless on such a file system, and is not tried.
  }
}

TEST_F(PosixRefusalTest, AnOldFileThatCannotLeaveTheStandardDescriptorsStaysWhereItIs) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "there", bytes_of("12345"))));
  const std::string answer = in_child([&] {
    refuse_system_calls({{SYS_fcntl, EMFILE, {{1, F_DUPFD_CLOEXEC}}}});
    ::close(0);
    return code_of(directory().open("there", ReadMode::kCached));
  });
  EXPECT_EQ(answer, "TooManyFiles");
  EXPECT_EQ(names_in(directory()), std::vector<std::string>{"there"});
}

TEST_F(PosixRefusalTest, ABufferedReadThatIsRefusedAsInvalidIsAnErrorAndAnInterruptedOneIsRepeated) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "there", bytes_of("12345"))));
  Result<std::unique_ptr<ReadableFile>> file = directory().open("there", ReadMode::kCached);
  ASSERT_TRUE(is_ok(file));
  Bytes bytes(5);
  {
    const InterposedReads reads([](const TransferCall&) { return Fate{EINVAL}; });
    EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kIoError, "Invalid argument"));
  }
  int asked = 0;
  const InterposedReads reads([&](const TransferCall&) { return ++asked < 3 ? Fate{EINTR} : Fate{}; });
  EXPECT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
  EXPECT_EQ(bytes, bytes_of("12345"));
  EXPECT_EQ(asked, 3);
}

TEST_F(PosixRefusalTest, ASegmentInMemoryIsNotFilled) {
  const std::string answer = in_child([&] {
    // Without permission to mount, the test shows nothing.
    if (!mount_small(path(), "size=8m")) return std::string("0 0");
    std::unique_ptr<Directory> own = open_at_path(path());
    Result<std::unique_ptr<LogSegment>> made = own->create_log_segment("1.wal", kMiB);
    if (!made.ok()) return told(made);
    int written = 0;
    const InterposedWrites writes([&](const TransferCall&) {
      ++written;
      return Fate{};
    });
    if (const Status filled = (*made)->fill(); !filled.ok()) return told(filled);
    return std::to_string(written) + " " + std::to_string((*made)->filled_bytes());
  });
  EXPECT_EQ(answer, "0 0");
}

TEST_F(PosixRefusalTest, OfTwoFailuresTheFirstIsKept) {
  HandleGuard guard("a", OwnerProcess::current());
  EXPECT_TRUE(is_ok(guard.check("pwrite")));
  EXPECT_TRUE(fails_with(guard.fail(Status::io_error("first")), Code::kIoError, "first"));
  EXPECT_TRUE(fails_with(guard.fail(Status::corruption("second")), Code::kIoError, "first"));
  EXPECT_TRUE(fails_with(guard.check("pwrite"), Code::kIoError, "first"));
}

TEST_F(PosixRefusalTest, ADescriptorMovedToItselfStaysOpen) {
  Descriptor descriptor(::dup(2));
  const int number = descriptor.get();
  Descriptor& same = descriptor;
  descriptor = std::move(same);
  EXPECT_EQ(descriptor.get(), number);
  EXPECT_GE(::fcntl(number, F_GETFD), 0);
}

// -- Directories by path ----------------------------------------------------------------------------------------------

TEST_F(PosixRefusalTest, AParentThatCannotBeOpenedIsAnErrorOfWhoeverMadeTheDirectory) {
  const RefusedCall parent_forbidden{SYS_openat, EACCES, {{2, O_DIRECTORY, O_DIRECTORY | O_PATH}}};
  const RefusedCall parent_broken{SYS_openat, EIO, {{2, O_DIRECTORY, O_DIRECTORY | O_PATH}}};
  const RefusedCall itself{SYS_openat, EMFILE, {{2, O_PATH, O_PATH}}};
  const auto make = [&](const std::string& name, const RefusedCall& refused) {
    return in_child([&] {
      refuse_system_calls({refused});
      return told(PosixFileSystem().create_directory(path_of(name), {"store directory"}));
    });
  };
  EXPECT_EQ(make("a", parent_forbidden).find("IoError: openat " + path_of("a") + "/.. (store directory): Permission"),
            0U);
  EXPECT_EQ(make("a", parent_forbidden), "Ok") << "who made it has seen to its name";
  EXPECT_EQ(make("a", parent_broken), "IoError: openat " + path_of("a") + "/.. (store directory): Input/output error");
  EXPECT_EQ(make("a", itself).find("TooManyFiles: open " + path_of("a")), 0U);
}

TEST_F(PosixRefusalTest, ADeviceInThePlaceOfAFileIsRefused) {
  std::unique_ptr<Directory> devices = open_at_path("/dev");
  EXPECT_TRUE(fails_with(devices->open("null", ReadMode::kCached), Code::kCorruption,
                         "/dev/null: not a regular file but a device"));
}

// -- Forks ------------------------------------------------------------------------------------------------------------

TEST_F(PosixRefusalTest, WithoutAPageThatForksWipeTheProcessIdTellsThemApart) {
  const RefusedCall kRefused[] = {
      {SYS_mmap, ENOMEM, {{1, kSectorBytes}, {3, MAP_PRIVATE | MAP_ANONYMOUS}}},
      {SYS_madvise, EINVAL, {{2, MADV_WIPEONFORK}}},
  };
  for (const RefusedCall& refused : kRefused) {
    const std::string answer = in_child([&] {
      refuse_system_calls({refused});
      ForkDetector detector(ForkDetector::Method::kWipedPage);
      const bool by_id = detector.method() == ForkDetector::Method::kProcessId;
      const std::string mine = std::to_string(detector.process_number());
      const std::string child = in_child([&] { return std::to_string(detector.process_number()); });
      return std::string(by_id ? "by id, " : "by page, ") + (child == mine ? "the same" : "different");
    });
    EXPECT_EQ(answer, "by id, different");
  }
}

}  // namespace
}  // namespace varve::io::posix_refusal_test
