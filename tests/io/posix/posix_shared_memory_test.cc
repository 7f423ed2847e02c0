// Goal: whatever another process does to the file of shared memory, the memory stays usable, and the damage is
// reported.
// Method: the file is cut, extended, overwritten, removed and replaced while its owner uses it.
#include <unistd.h>

#include "tests/io/posix/posix_test_support.h"

namespace varve::io::posix_shared_memory_test {
namespace {

constexpr std::size_t kBytes = 4 * kSectorBytes;

class PosixSharedMemoryTest : public PosixTest {
 protected:
  void SetUp() override {
    PosixTest::SetUp();
    memory_ = *directory().create_shared_memory("1.buf", kBytes);
    fill(std::byte{1});
    ASSERT_TRUE(is_ok(memory_->keep(0, kBytes)));
    ASSERT_TRUE(is_ok(memory_->check()));
  }
  void fill(std::byte byte) { std::fill(memory_->bytes().begin(), memory_->bytes().end(), byte); }
  bool holds(std::byte byte) { return *read_whole(directory(), "1.buf") == Bytes(kBytes, byte); }

  std::unique_ptr<SharedMemory> memory_;
};

TEST_F(PosixSharedMemoryTest, IsUsedOnWhenItsFileWasCutAtAnySectorAndTellsIt) {
  for (std::size_t size = 0; size < kBytes; size += kSectorBytes / 2) {
    SCOPED_TRACE(size);
    ASSERT_EQ(::truncate(path_of("1.buf").c_str(), static_cast<off_t>(size)), 0);
    fill(std::byte{2});  // With a mapping of the file the process would end here.
    EXPECT_TRUE(fails_with(memory_->check(), Code::kCorruption, path_of("1.buf")));
    memory_->restore();
    EXPECT_TRUE(holds(std::byte{2})) << "the file is whole again";
    EXPECT_TRUE(is_ok(memory_->check()));
  }
}

TEST_F(PosixSharedMemoryTest, ACutIsFoundThoughTheFileHasGrownAgain) {
  ASSERT_EQ(::truncate(path_of("1.buf").c_str(), 0), 0);
  ASSERT_TRUE(is_ok(memory_->keep(kBytes - 1, 1)));
  EXPECT_TRUE(fails_with(memory_->check(), Code::kCorruption));
  memory_->restore();
  EXPECT_TRUE(holds(std::byte{1}));
}

TEST_F(PosixSharedMemoryTest, OtherSizesAndOtherBytesAreFound) {
  ASSERT_EQ(::truncate(path_of("1.buf").c_str(), kBytes + 1), 0);
  EXPECT_TRUE(fails_with(memory_->check(), Code::kCorruption));
  memory_->restore();
  EXPECT_TRUE(holds(std::byte{1}));
  fill(std::byte{3});
  EXPECT_TRUE(fails_with(memory_->check(), Code::kCorruption)) << "the beginning is not what was kept";
}

TEST_F(PosixSharedMemoryTest, AFileThatLostItsNameIsFenced) {
  ASSERT_EQ(::rename(path_of("1.buf").c_str(), path_of("2.buf").c_str()), 0);
  EXPECT_TRUE(fails_with(memory_->check(), Code::kFenced));
  ASSERT_EQ(::rename(path_of("2.buf").c_str(), path_of("1.buf").c_str()), 0);
  EXPECT_TRUE(is_ok(memory_->check()));
  ASSERT_EQ(::unlink(path_of("1.buf").c_str()), 0);
  EXPECT_TRUE(fails_with(memory_->check(), Code::kFenced));
  fill(std::byte{4});
  EXPECT_TRUE(is_ok(memory_->keep(0, kBytes))) << "the handle is as good as before";
}

}  // namespace
}  // namespace varve::io::posix_shared_memory_test
