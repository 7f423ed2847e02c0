// Goal: each promise of durability in io/file_system.h and io/file.h makes the right calls in the right order. A
// missing call shows only after a power cut, which a test on a real file system cannot cause. So the test checks the
// calls themselves, for both back ends on real files. The layers above are tested with power cuts in memory.
#include <string>
#include <vector>

#include <sys/statfs.h>

#include "io/posix/posix_log_segment.h"
#include "tests/io/child_process.h"
#include "tests/io/file_system_contract.h"
#include "tests/io/posix/recorded_calls.h"
#include "tests/io/posix/refused_system_calls.h"

namespace varve::io::sync_order_test {
namespace {

using Calls = std::vector<std::string>;

class SyncOrder : public FileSystemContract {
 protected:
  AlignedBuffer sector_ = sectors_by_seed(1, kSectorBytes);
};

TEST_P(SyncOrder, AFileIsDurableWhenItsSyncReturns) {
  RecordedCalls calls(path());
  Result<std::unique_ptr<WritableFile>> file = directory().create("a");
  ASSERT_TRUE(is_ok(file));
  ASSERT_TRUE(is_ok((*file)->append(bytes_of("content"))));
  EXPECT_EQ(calls.take(), (Calls{"write a"}));
  ASSERT_TRUE(is_ok((*file)->sync(kPoint)));
  EXPECT_EQ(calls.take(), (Calls{"fdatasync a"})) << "which takes the size along";
}

TEST_P(SyncOrder, ALongFileIsOnItsWayToTheDeviceBeforeItsSync) {
  constexpr std::size_t kPieceBytes = std::size_t{400} << 10;
  const AlignedBuffer piece = sectors_by_seed(2, kPieceBytes);
  RecordedCalls calls(path());
  Result<std::unique_ptr<WritableFile>> file = directory().create("a");
  ASSERT_TRUE(is_ok(file));
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(is_ok((*file)->append(piece.bytes())));
  EXPECT_EQ(calls.take(), (Calls{"write a", "write a", "write back a", "write a", "write a", "write back a", "await a",
                                 "write a", "write a", "write back a", "await a"}));
  ASSERT_TRUE(is_ok((*file)->sync(kPoint)));
  EXPECT_EQ(calls.take(), (Calls{"fdatasync a"})) << "what was begun is not durable without it";
}

TEST_P(SyncOrder, NamesAreDurableWhenTheSyncOfTheirDirectoryReturns) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("content"))));
  RecordedCalls calls(path());
  ASSERT_TRUE(is_ok(directory().remove("a")));
  EXPECT_EQ(calls.take(), Calls{});
  ASSERT_TRUE(is_ok(directory().sync(kPoint)));
  EXPECT_EQ(calls.take(), (Calls{"fsync ."}));
}

TEST_P(SyncOrder, AReplacementIsDurableBeforeItTakesTheNameAndTheNameBeforeTheCallReturns) {
  RecordedCalls calls(path());
  const Calls expected{"write CURRENT.tmp", "fsync CURRENT.tmp", "rename CURRENT.tmp CURRENT", "fsync ."};
  ASSERT_TRUE(is_ok(directory().replace("CURRENT", {}, bytes_of("first"), kPoint)));
  EXPECT_EQ(calls.take(), expected);
  ASSERT_TRUE(is_ok(directory().replace("CURRENT", bytes_of("first"), bytes_of("second"), kPoint)));
  EXPECT_EQ(calls.take(), expected);
}

TEST_P(SyncOrder, ANewDirectoryIsDurableInItsParentAndOneThatWasThereIsMadeSo) {
  RecordedCalls calls(path());
  ASSERT_TRUE(is_ok(files().create_directory(path() + "/inner", kPoint)));
  EXPECT_EQ(calls.take(), (Calls{"mkdir inner", "fsync ."}));
  // The creator of the directory may have died before the sync.
  ASSERT_TRUE(is_ok(files().create_directory(path() + "/inner", kPoint)));
  EXPECT_EQ(calls.take(), (Calls{"fsync ."}));
}

TEST_P(SyncOrder, ALogSegmentsSizeIsDurableWhenItIsMadeAndEachWriteWhenItReturns) {
  RecordedCalls calls(path());
  const std::unique_ptr<LogSegment> segment = make_segment("1.wal", 4 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  Calls made = calls.take();
  ASSERT_FALSE(made.empty());
  // If a file system refuses direct transfers, the call is made twice. Both times it must be a durable write.
  for (const std::string& call : made) EXPECT_EQ(call, "write through 1.wal");
  ASSERT_TRUE(is_ok(segment->write(kSectorBytes, sector_.bytes(), kPoint)));
  EXPECT_EQ(calls.take(), (Calls{"write through 1.wal"}));
}

TEST_P(SyncOrder, TheEndOfALogSegmentIsDurableWhenItIsCut) {
  const std::unique_ptr<LogSegment> segment = make_segment("1.wal", 4 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  ASSERT_TRUE(is_ok(segment->write(0, sector_.bytes(), kPoint)));
  RecordedCalls calls(path());
  ASSERT_TRUE(is_ok(segment->cut(kSectorBytes, kPoint)));
  EXPECT_EQ(calls.take(), (Calls{"truncate 1.wal", "fsync 1.wal"}));
}

TEST_P(SyncOrder, ZerosThatTheDeviceWritesAreDurableBeforeTheyCountAsFilled) {
  struct statfs status {};
  ASSERT_EQ(::statfs(path().c_str(), &status), 0);
  const bool helps = zero_filling_helps(static_cast<std::uint32_t>(status.f_type));
  constexpr std::uint32_t kWriteZeroes = 0x80;  // FALLOC_FL_WRITE_ZEROES
  const std::string answer = in_child([&] {
    Result<std::unique_ptr<Directory>> own = files().open_directory(path());
    if (!own.ok()) return own.status().to_string();
    Result<std::unique_ptr<LogSegment>> made = (*own)->create_log_segment("1.wal", 2 * kMiB);
    if (!made.ok()) return made.status().to_string();
    refuse_system_calls({{SYS_fallocate, 0, {{1, kWriteZeroes}}}});  // succeeds at once
    RecordedCalls calls(path());
    std::string words = (*made)->fill().to_string();
    for (const std::string& call : calls.take()) words += ", " + call;
    return words;
  });
  std::string expected = "Ok";
  for (std::size_t chunk = 0; helps && chunk < 2 * kMiB / kFillChunkBytes; ++chunk) expected += ", fdatasync 1.wal";
  EXPECT_EQ(answer, expected);
}

TEST_P(SyncOrder, TheSizeOfSharedMemoryIsDurableWhenItIsMade) {
  RecordedCalls calls(path());
  const Result<std::unique_ptr<SharedMemory>> memory = directory().create_shared_memory("2.buf", kMiB);
  ASSERT_TRUE(is_ok(memory));
  const Calls made = calls.take();
  ASSERT_FALSE(made.empty());
  EXPECT_EQ(made.back(), "fdatasync 2.buf");
}

INSTANTIATE_TEST_SUITE_P(BackEnds, SyncOrder,
                         testing::Values(Implementation{"Posix", make_world<PosixWorld>},
                                         Implementation{"Uring", make_world<UringWorld>}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace varve::io::sync_order_test
