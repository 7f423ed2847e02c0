// Log segments of the plain-call back end: direct transfers or allocation are refused, and writes fail.
#include "io/posix/posix_log_segment.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "io/posix/posix_transfer.h"
#include "tests/io/child_process.h"
#include "tests/io/posix/interposed_transfers.h"
#include "tests/io/posix/posix_test_support.h"
#include "tests/io/posix/refused_system_calls.h"
#include "tests/io/posix/small_file_system.h"

namespace varve::io::posix_log_segment_test {
namespace {

constexpr int kWriteZeroes = 0x80;  // FALLOC_FL_WRITE_ZEROES
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class PosixLogSegmentTest : public PosixTest {
 protected:
  std::unique_ptr<LogSegment> make(std::string_view name, std::uint64_t bytes) {
    Result<std::unique_ptr<LogSegment>> made = directory().create_log_segment(name, bytes);
    EXPECT_TRUE(is_ok(made));
    return made.ok() ? *std::move(made) : nullptr;
  }

  bool here_direct_io_works() const {
    const int descriptor = ::open(path_of("probe").c_str(), O_RDWR | O_CREAT | O_DIRECT, 0600);
    if (descriptor >= 0) ::close(descriptor);
    ::unlink(path_of("probe").c_str());
    return descriptor >= 0;
  }

  bool here_filling_may_help() const {
    struct statfs status {};
    EXPECT_EQ(::statfs(path().c_str(), &status), 0);
    return zero_filling_helps(static_cast<std::uint32_t>(status.f_type));
  }
  bool here_filling_helps() const {
    const Descriptor here(::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const Result<bool> helps = zero_filling_helps_in(here.get(), path());
    EXPECT_TRUE(is_ok(helps));
    return helps.ok() && *helps;
  }

  std::uint64_t space_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(path_of(name).c_str(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
};

TEST_F(PosixLogSegmentTest, SpaceIsAllocatedWholeAndTransfersAreDirectWhereTheFileSystemHasThem) {
  std::unique_ptr<LogSegment> segment = make("1.wal", 4 * kMiB);
  ASSERT_NE(segment, nullptr);
  EXPECT_GE(space_of("1.wal"), 4 * kMiB);
  EXPECT_EQ(segment->direct(), here_direct_io_works());
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  int asked = 0;
  const InterposedWrites writes([&](const TransferCall& call) {
    ++asked;
    return call.direct == segment->direct() ? Fate{} : Fate{EIO};
  });
  EXPECT_TRUE(is_ok(segment->write(0, bytes.bytes(), kTestPoint)));
  EXPECT_EQ(asked, 1);
}

TEST_F(PosixLogSegmentTest, FillingPreparesAllWhereItHelps) {
  std::unique_ptr<LogSegment> segment = make("1.wal", 3 * kMiB + 2 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  EXPECT_EQ(segment->filled_bytes(), 0U);
  ASSERT_TRUE(is_ok(segment->fill()));
  EXPECT_EQ(segment->filled_bytes(), here_filling_helps() ? segment->allocated_bytes() - kSectorBytes : 0U);
}

TEST_F(PosixLogSegmentTest, FillingHelpsOnlyWhereSpaceIsOverwrittenInPlace) {
  EXPECT_TRUE(zero_filling_helps(EXT4_SUPER_MAGIC));
  EXPECT_TRUE(zero_filling_helps(XFS_SUPER_MAGIC));
  EXPECT_FALSE(zero_filling_helps(BTRFS_SUPER_MAGIC));
  EXPECT_FALSE(zero_filling_helps(0x2FC12FC1)) << "ZFS";
  EXPECT_FALSE(zero_filling_helps(0xCA451A4E)) << "bcachefs";
  EXPECT_FALSE(zero_filling_helps(TMPFS_MAGIC));
  EXPECT_FALSE(zero_filling_helps(RAMFS_MAGIC));
}

// A file system may have to write the inode with the next write, once its times were seen.
TEST_F(PosixLogSegmentTest, AWriteFindsAnotherFileUnderTheNameWithoutItsTimes) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    Result<std::unique_ptr<LogSegment>> made = own->create_log_segment("1.wal", kMiB);
    if (!made.ok()) return told(made);
    std::ofstream(path_of("other")) << "other";
    std::filesystem::rename(path_of("other"), path_of("1.wal"));
    refuse_system_calls({{SYS_newfstatat, EACCES},
                         {SYS_fstat, EACCES},
                         {SYS_statx, EACCES, {{3, STATX_MTIME, STATX_MTIME}}},
                         {SYS_statx, EACCES, {{3, STATX_CTIME, STATX_CTIME}}}});
    const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
    const Status written = (*made)->write(0, bytes.bytes(), kTestPoint);
    return std::string(written.code() == Code::kFenced ? "fenced" : "not fenced: ") + told(written);
  });
  EXPECT_TRUE(answer.starts_with("fenced")) << answer;
}

TEST_F(PosixLogSegmentTest, ADeviceThatWritesZerosItselfIsLetDoIt) {
  const std::string answer = in_child([&] {
    refuse_system_calls({{SYS_readlinkat, EACCES}});  // so that nothing tells whether there is a journal
    std::unique_ptr<Directory> own = open_at_path(path());
    Result<std::unique_ptr<LogSegment>> made = own->create_log_segment("1.wal", 2 * kMiB);
    if (!made.ok()) return told(made);
    refuse_system_calls({{SYS_fallocate, 0, {{1, kWriteZeroes}}},  // Succeeds at once.
                         {SYS_pwrite64, EIO}});
    const std::string filled = told((*made)->fill());
    return filled + " " + std::to_string((*made)->filled_bytes());
  });
  EXPECT_EQ(answer, "Ok " + std::to_string(here_filling_may_help() ? 2 * kMiB - kSectorBytes : 0));
}

// -- Direct transfers refused -----------------------------------------------------------------------------------------

TEST_F(PosixLogSegmentTest, AFileSystemThatRefusesTheFlagGetsBufferedDurableWrites) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    refuse_system_calls({{SYS_fcntl, EINVAL, {{1, F_SETFL}, {2, O_DIRECT, O_DIRECT}}}});
    Result<std::unique_ptr<LogSegment>> made = own->create_log_segment("1.wal", 2 * kMiB);
    if (!made.ok()) return told(made);
    const AlignedBuffer bytes = sectors_by_seed(1, 2 * kSectorBytes);
    const std::string filled = told((*made)->fill());
    const std::string written = told((*made)->write(kSectorBytes, bytes.bytes(), kTestPoint));
    return std::string((*made)->direct() ? "direct " : "buffered ") + filled + " " + written;
  });
  EXPECT_EQ(answer, "buffered Ok Ok");
  const AlignedBuffer bytes = sectors_by_seed(1, 2 * kSectorBytes);
  Result<Bytes> content = read_whole(directory(), "1.wal");
  ASSERT_TRUE(is_ok(content));
  EXPECT_TRUE(std::equal(bytes.bytes().begin(), bytes.bytes().end(), content->begin() + kSectorBytes));
}

TEST_F(PosixLogSegmentTest, AFileSystemThatTakesTheFlagAndRefusesTheTransferGetsBufferedOnes) {
  const InterposedWrites writes([](const TransferCall& call) { return call.direct ? Fate{EINVAL} : Fate{}; });
  std::unique_ptr<LogSegment> segment = make("1.wal", 8 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  EXPECT_FALSE(segment->direct());
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(is_ok(segment->fill()));
  EXPECT_TRUE(is_ok(segment->write(2 * kSectorBytes, bytes.bytes(), kTestPoint)));
  Result<Bytes> content = read_whole(directory(), "1.wal");
  ASSERT_TRUE(is_ok(content));
  EXPECT_TRUE(std::equal(bytes.bytes().begin(), bytes.bytes().end(), content->begin() + 2 * kSectorBytes));
}

// A write is durable at its return because of O_DSYNC. Without a crash only the flag itself can show that.
TEST_F(PosixLogSegmentTest, BothKindsOfTransferAreSyncedByTheWriteItself) {
  for (const bool direct : {true, false}) {
    const InterposedWrites writes([&](const TransferCall& call) {
      if (call.direct && !direct) return Fate{EINVAL};
      return (::fcntl(call.descriptor, F_GETFL) & O_DSYNC) != 0 ? Fate{} : Fate{EIO};
    });
    std::unique_ptr<LogSegment> segment = make(direct ? "1.wal" : "2.wal", 4 * kSectorBytes);
    ASSERT_NE(segment, nullptr);
    const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
    EXPECT_TRUE(is_ok(segment->fill()));
    EXPECT_TRUE(is_ok(segment->write(kSectorBytes, bytes.bytes(), kTestPoint)));
  }
}

// -- Space ------------------------------------------------------------------------------------------------------------

TEST_F(PosixLogSegmentTest, WithoutAllocationTheSpaceIsMadeCertainByWritingIt) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    refuse_system_calls({{SYS_fallocate, EOPNOTSUPP}});
    Result<std::unique_ptr<LogSegment>> made = own->create_log_segment("1.wal", 2 * kMiB + kSectorBytes);
    if (!made.ok()) return told(made);
    return std::to_string((*made)->filled_bytes());
  });
  EXPECT_EQ(answer, std::to_string(2 * kMiB));
  EXPECT_GE(space_of("1.wal"), 2 * kMiB);
  Result<Bytes> content = read_whole(directory(), "1.wal");
  ASSERT_TRUE(is_ok(content));
  EXPECT_TRUE(*content == Bytes(2 * kMiB + kSectorBytes));
}

TEST_F(PosixLogSegmentTest, RefusedSpaceLeavesNoFile) {
  for (const int error : {ENOSPC, EDQUOT, EIO}) {
    SCOPED_TRACE(error);
    const std::string answer = in_child([&] {
      std::unique_ptr<Directory> own = open_at_path(path());
      refuse_system_calls({{SYS_fallocate, error}});
      return code_of(own->create_log_segment("1.wal", kMiB)) + " " + code_of(own->create_shared_memory("2.buf", kMiB));
    });
    EXPECT_EQ(answer, error == EIO ? "IoError IoError" : "NoSpace NoSpace");
    EXPECT_TRUE(names_in(directory()).empty());
  }
}

TEST_F(PosixLogSegmentTest, AFirstSectorThatCannotBeWrittenLeavesNoFile) {
  const InterposedWrites writes([](const TransferCall&) { return Fate{EIO}; });
  EXPECT_TRUE(fails_with(directory().create_log_segment("1.wal", kMiB), Code::kIoError, path_of("1.wal")));
  EXPECT_TRUE(names_in(directory()).empty());
}

TEST_F(PosixLogSegmentTest, AFullFileSystemLeavesNoFileAndServesAgainWhenThereIsSpace) {
  ASSERT_EQ(::mkdir(path_of("full").c_str(), 0700), 0);
  const std::string answer = in_child([&] {
    const bool mounted = mount_small(path_of("full"), "size=2m");
    std::unique_ptr<Directory> own = open_at_path(path_of("full"));
    // If mounting is not permitted, the limit of a file's size replaces the limit of the device.
    const rlimit limit{2 * kMiB, 2 * kMiB};
    if (!mounted && ::setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("no limit");
    std::string words = code_of(own->create_log_segment("1.wal", 3 * kMiB)) + " " +
                        code_of(own->create_shared_memory("2.buf", 3 * kMiB)) + " ";
    words += std::to_string(names_in(*own).size()) + " ";
    return words + code_of(own->create_log_segment("1.wal", kMiB));
  });
  EXPECT_EQ(answer, "NoSpace NoSpace 0 Ok");
}

TEST_F(PosixLogSegmentTest, TheFileSizeLimitRefusesTheSegmentAndDoesNotEndTheProcess) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    const rlimit limit{kMiB, kMiB};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("setrlimit failed");
    return code_of(own->create_log_segment("1.wal", kMiB + kSectorBytes)) + " " +
           code_of(own->create_shared_memory("2.buf", kMiB + kSectorBytes)) + " " +
           code_of(own->create_log_segment("3.wal", kMiB)) + " " + code_of(own->create_shared_memory("4.buf", kMiB));
  });
  EXPECT_EQ(answer, "NoSpace NoSpace Ok Ok");
  EXPECT_EQ(names_in(directory()), (std::vector<std::string>{"3.wal", "4.buf"}));
}

// -- Failing writes ---------------------------------------------------------------------------------------------------

TEST_F(PosixLogSegmentTest, AFailedWritePoisonsTheSegment) {
  std::unique_ptr<LogSegment> segment = make("000003.wal", 16 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  const std::string message =
      "pwrite " + path_of("000003.wal") + " at offset 8192 (log group commit): No space left on device";
  {
    const InterposedWrites writes([](const TransferCall&) { return Fate{ENOSPC}; });
    EXPECT_TRUE(fails_with(segment->write(8192, bytes.bytes(), {"log group commit"}), Code::kNoSpace, message));
  }
  EXPECT_TRUE(fails_with(segment->write(0, bytes.bytes(), kTestPoint), Code::kNoSpace, message));
  EXPECT_TRUE(fails_with(segment->cut(0, kTestPoint), Code::kNoSpace, message));
  struct stat status {};
  ASSERT_EQ(::stat(path_of("000003.wal").c_str(), &status), 0);
  EXPECT_EQ(status.st_size, static_cast<off_t>(16 * kSectorBytes)) << "the refused cut changed nothing";
}

TEST_F(PosixLogSegmentTest, ShortWritesAreFinishedFromAWholeSector) {
  std::unique_ptr<LogSegment> segment = make("1.wal", 16 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  const AlignedBuffer bytes = sectors_by_seed(1, 6 * kSectorBytes);
  int calls = 0;
  {
    const InterposedWrites writes([&](const TransferCall&) {
      ++calls;
      return calls == 2 ? Fate{EINTR} : Fate{0, 2 * kSectorBytes};
    });
    ASSERT_TRUE(is_ok(segment->write(kSectorBytes, bytes.bytes(), kTestPoint)));
  }
  EXPECT_EQ(calls, 4);
  Result<Bytes> content = read_whole(directory(), "1.wal");
  ASSERT_TRUE(is_ok(content));
  EXPECT_TRUE(std::equal(bytes.bytes().begin(), bytes.bytes().end(), content->begin() + kSectorBytes));
}

TEST_F(PosixLogSegmentTest, AFailedFillPoisonsTheSegmentAndCountsOnlyWhatWasSynced) {
  std::unique_ptr<LogSegment> segment = make("1.wal", 4 * kMiB);
  ASSERT_NE(segment, nullptr);
  if (!here_filling_helps()) {
    EXPECT_TRUE(is_ok(segment->fill()));
    EXPECT_EQ(segment->filled_bytes(), 0U);
    return;
  }
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    Result<std::unique_ptr<LogSegment>> made = own->create_log_segment("2.wal", 4 * kMiB);
    refuse_system_calls({{SYS_fallocate, EOPNOTSUPP}});
    std::string first;
    {
      const InterposedWrites writes(
          [](const TransferCall& call) { return call.offset == static_cast<off_t>(2 * kMiB) ? Fate{EIO} : Fate{}; });
      first = told((*made)->fill());
    }
    const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
    const bool kept = told((*made)->fill()) == first && told((*made)->write(0, bytes.bytes(), kTestPoint)) == first;
    return std::to_string((*made)->filled_bytes()) + " " + first + (kept ? "" : ", not kept");
  });
  EXPECT_EQ(answer, std::to_string(2 * kMiB - kSectorBytes) + " IoError: pwrite " + path_of("2.wal") +
                        " at offset 2097152 (log segment fill): Input/output error");
}

TEST_F(PosixLogSegmentTest, FailedCutsAreErrorsThatStay) {
  for (const long call : {SYS_ftruncate, SYS_fsync}) {
    SCOPED_TRACE(call);
    const std::string answer = in_child([&] {
      std::unique_ptr<Directory> own = open_at_path(path());
      Result<std::unique_ptr<LogSegment>> made =
          own->create_log_segment(std::to_string(call) + ".wal", 4 * kSectorBytes);
      if (!made.ok()) return told(made);
      refuse_system_calls({{call, EIO}});
      const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
      const std::string first = code_of((*made)->cut(kSectorBytes, kTestPoint));
      return first + " " + code_of((*made)->write(0, bytes.bytes(), kTestPoint));
    });
    EXPECT_EQ(answer, "IoError IoError");
  }
}

TEST_F(PosixLogSegmentTest, AfterACutWritesSayThatItWasCut) {
  std::unique_ptr<LogSegment> segment = make("1.wal", 4 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  ASSERT_TRUE(is_ok(segment->cut(kSectorBytes, kTestPoint)));
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(fails_with(segment->write(0, bytes.bytes(), kTestPoint), Code::kClosed, "cut at 4096 bytes"));
  EXPECT_TRUE(fails_with(segment->cut(0, kTestPoint), Code::kClosed, path_of("1.wal")));
}

using PosixLogSegmentDeathTest = PosixLogSegmentTest;

TEST_F(PosixLogSegmentDeathTest, MisuseEndsTheProcessBeforeItHarmsTheLog) {
  std::unique_ptr<LogSegment> segment = make("1.wal", 4 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  AlignedBuffer bytes = sectors_by_seed(1, 2 * kSectorBytes);
  const auto write = [&](std::uint64_t offset, std::span<const std::byte> range) {
    (void)segment->write(offset, range, kTestPoint);
  };
  EXPECT_DEATH(write(512, bytes.bytes()), "is_sector_multiple");
  EXPECT_DEATH(write(0, bytes.bytes().first(512)), "is_sector_multiple");
  EXPECT_DEATH(write(0, bytes.bytes().subspan(16, kSectorBytes)), "is_sector_aligned");
  EXPECT_DEATH(write(3 * kSectorBytes, bytes.bytes()), "allocated_bytes_");
  ASSERT_TRUE(is_ok(segment->write(2 * kSectorBytes, bytes.bytes(), kTestPoint)));
  EXPECT_DEATH((void)segment->fill(), "written_to_");
}

}  // namespace
}  // namespace varve::io::posix_log_segment_test
