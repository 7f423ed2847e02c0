// A fork of the process with an open store: it may read, and cannot change anything.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/child_process.h"
#include "tests/io/posix/posix_test_support.h"

namespace varve::io::posix_fork_test {
namespace {

using std::chrono::milliseconds;

class PosixForkTest : public PosixTest {
 protected:
  void SetUp() override {
    file_ = *directory().create("file");
    ASSERT_TRUE(is_ok(file_->append(bytes_of("12345"))));
    segment_ = *directory().create_log_segment("1.wal", 4 * kSectorBytes);
    memory_ = *directory().create_shared_memory("buffer", kSectorBytes);
    lock_ = *directory().lock("LOCK", LockMode::kExclusive, milliseconds(0));
    ASSERT_TRUE(is_ok(directory().replace("CURRENT", {}, bytes_of("old"), kTestPoint)));
    before_ = names_in(directory());
  }

  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<LogSegment> segment_;
  std::unique_ptr<SharedMemory> memory_;
  std::unique_ptr<DirectoryLock> lock_;
  std::vector<std::string> before_;
};

TEST_F(PosixForkTest, EveryWritingCallOfAChildIsLocked) {
  const std::string answer = in_child([&] {
    const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
    std::string words;
    for (const std::string& code :
         {code_of(file_->append(bytes_of("x"))), code_of(file_->sync(kTestPoint)),
          code_of(segment_->write(0, sector.bytes(), kTestPoint)), code_of(segment_->fill()),
          code_of(segment_->cut(0, kTestPoint)), code_of(lock_->check()), code_of(directory().create("new")),
          code_of(directory().create_log_segment("2.wal", kSectorBytes)),
          code_of(directory().create_shared_memory("2.buf", kSectorBytes)),
          code_of(directory().replace("CURRENT", bytes_of("old"), bytes_of("new"), kTestPoint)),
          code_of(directory().remove("CURRENT")), code_of(directory().sync(kTestPoint)),
          code_of(directory().link("CURRENT", directory())), code_of(directory().set_ballast("BALLAST", kSectorBytes)),
          code_of(directory().lock("LOCK2", LockMode::kExclusive, milliseconds(0)))}) {
      if (code != "Locked") words += code + " ";
    }
    return words + std::to_string(memory_->bytes().size());
  });
  EXPECT_EQ(answer, "0") << "the codes that are not Locked, and the size of the shared memory";

  EXPECT_EQ(names_in(directory()), before_);
  EXPECT_TRUE(*read_whole(directory(), "CURRENT") == bytes_of("old"));
  EXPECT_TRUE(*read_whole(directory(), "file") == bytes_of("12345"));
  EXPECT_TRUE(*read_whole(directory(), "1.wal") == Bytes(4 * kSectorBytes));
}

TEST_F(PosixForkTest, TheRefusalSaysWhatToDo) {
  const std::string answer = in_child([&] { return told(file_->append(bytes_of("x"))); });
  EXPECT_EQ(answer, "Locked: pwrite " + path_of("file") +
                        ": this process is a fork of the one that opened it; open the store again in this process");
}

TEST_F(PosixForkTest, AChildReads) {
  EXPECT_EQ(in_child([&] {
              const Result<Bytes> content = read_whole(directory(), "CURRENT", ReadMode::kDirect);
              return content.ok() && *content == bytes_of("old") ? std::string("read") : told(content);
            }),
            "read");
}

TEST_F(PosixForkTest, TheParentGoesOnAfterItsChildEndedAllHandles) {
  const std::string answer = in_child([&] {
    file_.reset();
    segment_.reset();
    memory_.reset();
    lock_.reset();
    return std::string("ended");
  });
  EXPECT_EQ(answer, "ended");
  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(is_ok(file_->append(bytes_of("6"))));
  EXPECT_TRUE(is_ok(file_->sync(kTestPoint)));
  EXPECT_TRUE(is_ok(segment_->write(0, sector.bytes(), kTestPoint)));
  memory_->bytes()[5] = std::byte{7};
  EXPECT_TRUE(is_ok(memory_->keep(5, 1)));
  EXPECT_EQ((*read_whole(directory(), "buffer"))[5], std::byte{7});
  EXPECT_TRUE(is_ok(directory().sync(kTestPoint)));
  EXPECT_TRUE(is_ok(lock_->check()));
}

TEST_F(PosixForkTest, SharedMemoryIsNotMappedInAChildAndItsPlaceIsLeftAlone) {
  const std::span<std::byte> bytes = memory_->bytes();
  const std::string answer = in_child([&] {
    unsigned char resident = 0;
    const auto is_mapped = [&] { return ::mincore(bytes.data(), bytes.size(), &resident) == 0; };
    if (is_mapped()) return std::string("mapped");
    void* place = ::mmap(bytes.data(), bytes.size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (place != bytes.data()) return std::string("cannot map");
    memory_.reset();
    return std::string(is_mapped() ? "left alone" : "unmapped");
  });
  EXPECT_EQ(answer, "left alone");
}

TEST_F(PosixForkTest, AChildMayOpenADirectoryOfItsOwn) {
  ASSERT_EQ(::mkdir(path_of("own").c_str(), 0700), 0);
  EXPECT_EQ(in_child([&] {
              std::unique_ptr<Directory> own = open_at_path(path_of("own"));
              auto lock = own->lock("LOCK", LockMode::kExclusive, milliseconds(0));
              if (!lock.ok()) return told(lock);
              const std::string grandchild = in_child([&] { return code_of((*lock)->check()); });
              return told((*lock)->check()) + " " + told(write_whole(*own, "a", bytes_of("x"))) + " " + grandchild;
            }),
            "Ok Ok Locked");
}

}  // namespace
}  // namespace varve::io::posix_fork_test
