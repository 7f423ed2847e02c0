#include "io/posix/posix_read.h"

#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>

#include "io/posix/posix_file.h"
#include "io/posix/posix_transfer.h"
#include "tests/io/posix/posix_test_support.h"

namespace varve::io::posix_read_test {
namespace {

constexpr std::size_t kFileBytes = 5 * kSectorBytes + 100;

class PosixReadTest : public PosixTest {
 protected:
  void SetUp() override {
    content_ = bytes_by_seed(41, kFileBytes);
    ASSERT_TRUE(is_ok(write_whole(directory(), "a", content_)));
    file_ = *directory().open("a", ReadMode::kDirect);
  }

  const PosixReadableFile& file() { return static_cast<const PosixReadableFile&>(*file_); }

  /// Returns the bytes that the kernel would transfer for a part, at most `bytes_max`.
  int transfer(const PosixRead::Part& part, std::size_t bytes_max = SIZE_MAX) {
    const std::size_t count =
        std::min({part.memory.size(), bytes_max, content_.size() - static_cast<std::size_t>(part.offset)});
    std::memcpy(part.memory.data(), content_.data() + part.offset, count);
    return static_cast<int>(count);
  }

  bool holds(std::span<const std::byte> bytes, std::size_t offset) const {
    return std::equal(bytes.begin(), bytes.end(), content_.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  Bytes content_;
  std::unique_ptr<ReadableFile> file_;
};

TEST_F(PosixReadTest, WholeSectorsAreReadInPlaceByOneTransfer) {
  if (!file().direct()) return;  // A file system without direct reads has no sectors.
  Result<AlignedBuffer> memory = AlignedBuffer::allocate(3 * kSectorBytes);
  PosixRead read(file(), kSectorBytes, memory->bytes());
  ASSERT_FALSE(read.done());
  const PosixRead::Part part = read.part();
  EXPECT_EQ(part.descriptor, file().descriptor());
  EXPECT_EQ(part.offset, kSectorBytes);
  EXPECT_EQ(part.memory.data(), memory->bytes().data());
  EXPECT_EQ(part.memory.size(), 3 * kSectorBytes);
  read.advance(transfer(part));
  ASSERT_TRUE(read.done());
  EXPECT_TRUE(is_ok(read.outcome()));
  EXPECT_TRUE(holds(memory->bytes(), kSectorBytes));
}

TEST_F(PosixReadTest, EveryOtherDirectReadIsMadeOfWholeSectorsAllTheSame) {
  if (!file().direct()) return;
  constexpr std::uint64_t kSeed = 42;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int step = 0; step < 500; ++step) {
    const std::size_t offset = random() % content_.size();
    Bytes bytes(1 + random() % (content_.size() - offset));
    PosixRead read(file(), offset, bytes);
    while (!read.done()) {
      const PosixRead::Part part = read.part();
      ASSERT_TRUE(is_sector_multiple(part.offset));
      ASSERT_TRUE(is_sector_multiple(part.memory.size()));
      ASSERT_TRUE(is_sector_aligned(part.memory.data()));
      // Short reads end anywhere, but make some progress.
      read.advance(transfer(part, kSectorBytes + random() % content_.size()));
    }
    ASSERT_TRUE(is_ok(read.outcome()));
    ASSERT_TRUE(holds(bytes, offset)) << bytes.size() << " at " << offset;
  }
}

TEST_F(PosixReadTest, NothingIsDoneAtOnce) {
  PosixRead read(file(), kFileBytes, {});
  EXPECT_TRUE(read.done());
  EXPECT_TRUE(is_ok(read.outcome()));
  EXPECT_TRUE(PosixRead().done());
}

TEST_F(PosixReadTest, PastTheEndIsDoneAtOnce) {
  Bytes two(2);
  const PosixRead read(file(), kFileBytes - 1, two);
  ASSERT_TRUE(read.done());
  EXPECT_TRUE(fails_with(read.outcome(), Code::kCorruption, path_of("a")));
}

TEST_F(PosixReadTest, ATransferOfNothingIsTheEndOfTheFile) {
  Bytes bytes(100);
  PosixRead read(file(), 0, bytes);
  read.advance(0);
  ASSERT_TRUE(read.done());
  EXPECT_TRUE(fails_with(read.outcome(), Code::kCorruption, "the file is too short to read"));
}

TEST_F(PosixReadTest, InterruptionsAreRepeatedWithinABound) {
  for (const int error : {EINTR, EAGAIN, ECANCELED}) {
    Bytes bytes(100);
    PosixRead read(file(), 0, bytes);
    const PosixRead::Part part = read.part();
    for (int i = 0; i < kInterruptionsMax - 1; ++i) {
      read.advance(-error);
      ASSERT_FALSE(read.done());
      ASSERT_EQ(read.part().memory.data(), part.memory.data());
    }
    read.advance(-error);
    ASSERT_TRUE(read.done());
    EXPECT_TRUE(fails_with(read.outcome(), Code::kIoError, path_of("a")));
  }
}

TEST_F(PosixReadTest, ProgressForgetsInterruptions) {
  const std::unique_ptr<ReadableFile> cached = *directory().open("a", ReadMode::kCached);
  Bytes bytes(1000);
  PosixRead read(static_cast<const PosixReadableFile&>(*cached), 7, bytes);
  while (!read.done()) {
    for (int i = 0; i < kInterruptionsMax - 1; ++i) read.advance(-EINTR);
    ASSERT_FALSE(read.done());
    read.advance(transfer(read.part(), 300));
  }
  EXPECT_TRUE(is_ok(read.outcome()));
  EXPECT_TRUE(holds(bytes, 7));
}

TEST_F(PosixReadTest, AnErrorNamesTheOffsetItCameAt) {
  const std::unique_ptr<ReadableFile> cached = *directory().open("a", ReadMode::kCached);
  Bytes bytes(1000);
  PosixRead read(static_cast<const PosixReadableFile&>(*cached), 7, bytes);
  read.advance(transfer(read.part(), 300));
  read.advance(-EIO);
  ASSERT_TRUE(read.done());
  EXPECT_TRUE(fails_with(read.outcome(), Code::kIoError, "pread " + path_of("a") + " at offset 307"));
}

}  // namespace
}  // namespace varve::io::posix_read_test
