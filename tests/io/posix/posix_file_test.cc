// Files of the plain-call back end, if the kernel misbehaves or the directory contains files that no store creates.
#include "io/posix/posix_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/child_process.h"
#include "tests/io/posix/interposed_transfers.h"
#include "tests/io/posix/posix_test_support.h"
#include "tests/io/posix/refused_system_calls.h"

namespace varve::io::posix_file_test {
namespace {

using PosixFile = PosixTest;

// -- Refusals at open -------------------------------------------------------------------------------------------------

TEST_F(PosixFile, SymbolicLinksAreRefusedWhereverTheyLead) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "real", bytes_of("x"))));
  ASSERT_EQ(::symlink("real", path_of("link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", path_of("dangling").c_str()), 0);
  for (const char* name : {"link", "dangling"}) {
    SCOPED_TRACE(name);
    for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
      EXPECT_TRUE(fails_with(directory().open(name, mode), Code::kCorruption, "symbolic link"));
      EXPECT_TRUE(fails_with(directory().open(name, mode), Code::kCorruption, path_of(name)));
    }
    EXPECT_TRUE(fails_with(directory().create(name), EEXIST));
    EXPECT_TRUE(fails_with(directory().create_log_segment(name, kSectorBytes), EEXIST));
    EXPECT_TRUE(fails_with(directory().create_shared_memory(name, kSectorBytes), EEXIST));
  }
  EXPECT_EQ(names_in(directory()), (std::vector<std::string>{"dangling", "link", "real"}));
}

TEST_F(PosixFile, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path_of("pipe").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir(path_of("sub").c_str(), 0700), 0);
  EXPECT_TRUE(fails_with(directory().open("pipe", ReadMode::kCached), Code::kCorruption, "but a pipe"));
  EXPECT_TRUE(fails_with(directory().open("sub", ReadMode::kDirect), Code::kCorruption, "but a directory"));
}

// -- Writing ----------------------------------------------------------------------------------------------------------

TEST_F(PosixFile, ShortAndInterruptedWritesAreFinished) {
  const Bytes expected = bytes_by_seed(1, 10'000);
  int calls = 0;
  {
    const InterposedWrites writes([&](const TransferCall&) {
      ++calls;
      return calls % 3 == 0 ? Fate{EINTR} : Fate{0, 777};
    });
    ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  }
  EXPECT_GT(calls, 13);
  const Result<Bytes> content = read_whole(directory(), "a");
  ASSERT_TRUE(is_ok(content));
  EXPECT_TRUE(*content == expected);
}

TEST_F(PosixFile, AFailedWritePoisonsTheHandle) {
  Result<std::unique_ptr<WritableFile>> file = directory().create("a");
  ASSERT_TRUE(is_ok(file));
  ASSERT_TRUE(is_ok((*file)->append(Bytes(8192))));
  const std::string message = "pwrite " + path_of("a") + " at offset 8692: No space left on device";
  {
    const InterposedWrites writes([](const TransferCall& call) {
      return call.offset == 8192 ? Fate{0, 500} : Fate{ENOSPC};
    });
    EXPECT_TRUE(fails_with((*file)->append(Bytes(1000)), Code::kNoSpace, message));
  }
  EXPECT_TRUE(fails_with((*file)->append(Bytes(1)), Code::kNoSpace, message)) << "though there is space again";
  EXPECT_TRUE(fails_with((*file)->sync(kTestPoint), Code::kNoSpace, message));
  EXPECT_EQ((*file)->size_bytes(), 8192U);
}

TEST_F(PosixFile, AWriteWithoutProgressIsAnError) {
  Result<std::unique_ptr<WritableFile>> file = directory().create("a");
  ASSERT_TRUE(is_ok(file));
  const InterposedWrites writes([](const TransferCall&) { return Fate{0, 0}; });
  EXPECT_TRUE(fails_with((*file)->append(Bytes(10)), Code::kIoError, "no progress"));
}

TEST_F(PosixFile, AFailedSyncPoisonsTheHandle) {
  Result<std::unique_ptr<WritableFile>> file = directory().create("a");
  ASSERT_TRUE(is_ok(file));
  const std::string answer = in_child([&] {
    // The handle belongs to another process here. A handle of this process shows the same.
    std::unique_ptr<Directory> own = open_at_path(path());
    Result<std::unique_ptr<WritableFile>> mine = own->create("b");
    refuse_system_calls({{SYS_fdatasync, EIO}});
    const std::string first = told((*mine)->sync({"table finish"}));
    const std::string second = told((*mine)->append(Bytes(1)));
    return first + "\n" + (first == second ? "the same" : second);
  });
  EXPECT_EQ(answer, "IoError: fdatasync " + path_of("b") + " (table finish): Input/output error\nthe same");
}

TEST_F(PosixFile, TheFileSizeLimitIsAnErrorAndNotTheEndOfTheProcess) {
  const std::string answer = in_child([&] {
    std::unique_ptr<Directory> own = open_at_path(path());
    Result<std::unique_ptr<WritableFile>> file = own->create("b");
    const rlimit limit{10'000, 10'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("setrlimit failed");
    const std::string below = told((*file)->append(Bytes(10'000)));
    return below + "\n" + told((*file)->append(Bytes(1)));
  });
  EXPECT_EQ(answer.substr(0, answer.find('\n')), "Ok");
  EXPECT_NE(answer.find("NoSpace: pwrite " + path_of("b") + " at offset 10000: File too large"), std::string::npos)
      << answer;
  EXPECT_NE(answer.find("ulimit -f"), std::string::npos) << answer;
}

// -- Reading ----------------------------------------------------------------------------------------------------------

TEST_F(PosixFile, ShortAndInterruptedReadsAreFinishedInBothModes) {
  const Bytes expected = bytes_by_seed(2, 100'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
    int calls = 0;
    const InterposedReads reads([&](const TransferCall& call) {
      ++calls;
      if (calls % 3 == 0) return Fate{EAGAIN};
      return Fate{0, call.direct ? 8192U : 7777U};
    });
    const Result<Bytes> content = read_whole(directory(), "a", mode);
    ASSERT_TRUE(is_ok(content));
    EXPECT_TRUE(*content == expected);
    EXPECT_GT(calls, 12);
  }
}

TEST_F(PosixFile, ReadErrorsNameTheOffsetAndPoisonNothing) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("12345"))));
  for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
    Result<std::unique_ptr<ReadableFile>> file = directory().open("a", mode);
    ASSERT_TRUE(is_ok(file));
    Bytes bytes(5);
    {
      const InterposedReads reads([](const TransferCall&) { return Fate{EIO}; });
      EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kIoError,
                             "pread " + path_of("a") + " at offset 0: Input/output error"));
    }
    EXPECT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
    EXPECT_EQ(bytes, bytes_of("12345"));
  }
}

TEST_F(PosixFile, AFileThatShrankUnderItsReaderIsCorruptionWithBothSizes) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_by_seed(3, 9000))));
  for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
    ASSERT_EQ(::truncate(path_of("a").c_str(), 9000), 0);
    Result<std::unique_ptr<ReadableFile>> file = directory().open("a", mode);
    ASSERT_TRUE(is_ok(file));
    ASSERT_EQ(::truncate(path_of("a").c_str(), 5000), 0);
    Bytes bytes(2000);
    const Status status = (*file)->read_exactly(4500, bytes);
    EXPECT_TRUE(fails_with(status, Code::kCorruption, path_of("a") + " at offset 4500"));
    EXPECT_TRUE(fails_with(status, Code::kCorruption, "2000 bytes"));
    EXPECT_TRUE(fails_with(status, Code::kCorruption, "5000"));
    EXPECT_TRUE(fails_with(status, Code::kCorruption, "9000"));
  }
}

TEST_F(PosixFile, DirectReadsThatAreRefusedGoThroughThePageCache) {
  const Bytes expected = bytes_by_seed(4, 20'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  Result<std::unique_ptr<ReadableFile>> file = directory().open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  int refused = 0;
  const InterposedReads reads([&](const TransferCall& call) {
    if (!call.direct) return Fate{};
    ++refused;
    return Fate{EINVAL};
  });
  Bytes bytes(expected.size());
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
    EXPECT_TRUE(bytes == expected);
  }
  EXPECT_LE(refused, 1) << "the first refusal is remembered";
  EXPECT_FALSE(static_cast<PosixReadableFile&>(**file).direct());
}

TEST_F(PosixFile, AFileSystemWithoutDirectReadsIsReadThroughThePageCache) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("12345"))));
  const std::string answer = in_child([&] {
    refuse_system_calls({{SYS_fcntl, EINVAL, {{1, F_SETFL}, {2, O_DIRECT, O_DIRECT}}}});
    Result<std::unique_ptr<ReadableFile>> file = directory().open("a", ReadMode::kDirect);
    if (!file.ok()) return told(file);
    Bytes bytes(5);
    const std::string outcome = told((*file)->read_exactly(0, bytes));
    return outcome + (bytes == bytes_of("12345") ? " same" : " different");
  });
  EXPECT_EQ(answer, "Ok same");
}

TEST_F(PosixFile, LargeUnalignedDirectReadsGoThroughABoundedBuffer) {
  const Bytes expected = bytes_by_seed(5, (3 << 20) + 1234);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  Result<std::unique_ptr<ReadableFile>> file = directory().open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  Bytes bytes(expected.size() - 7);
  ASSERT_TRUE(is_ok((*file)->read_exactly(7, bytes)));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin() + 7));
  Result<AlignedBuffer> aligned = AlignedBuffer::allocate(2 << 20);
  ASSERT_TRUE(is_ok(aligned));
  ASSERT_TRUE(is_ok((*file)->read_exactly(4096, aligned->bytes())));
  EXPECT_TRUE(std::equal(aligned->bytes().begin(), aligned->bytes().end(), expected.begin() + 4096));
}

}  // namespace
}  // namespace varve::io::posix_file_test
