// The contract suite, part two: log segments and shared memory. Part one names the implementations.
#include <atomic>
#include <cerrno>
#include <thread>

#include "tests/io/file_system_contract.h"

namespace varve::io::log_segment_contract_test {
namespace {

// -- Log segments -----------------------------------------------------------------------------------------------------

TEST_P(FileSystemContract, ANewSegmentHasItsWholeSizeAndReadsAsZeros) {
  std::unique_ptr<LogSegment> segment = make_segment("1.wal", 5 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  EXPECT_EQ(segment->allocated_bytes(), 5 * kSectorBytes);
  EXPECT_LE(segment->filled_bytes(), segment->allocated_bytes());
  expect_content("1.wal", Bytes(5 * kSectorBytes));
  EXPECT_TRUE(fails_with(directory().create_log_segment("1.wal", kSectorBytes), EEXIST, path() + "/1.wal"));
  EXPECT_TRUE(fails_with(directory().create("1.wal"), EEXIST, path() + "/1.wal"));
}

TEST_P(FileSystemContract, WritesIntoASegmentInAnyOrderReadBackAmongZeros) {
  std::unique_ptr<LogSegment> segment = make_segment("1.wal", 16 * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  Bytes expected(16 * kSectorBytes);
  for (const std::size_t sector : {15U, 0U, 7U, 3U}) {
    const AlignedBuffer bytes = sectors_by_seed(sector, kSectorBytes);
    ASSERT_TRUE(is_ok(segment->write(sector * kSectorBytes, bytes.bytes(), kPoint)));
    std::copy(bytes.bytes().begin(), bytes.bytes().end(),
              expected.begin() + static_cast<std::ptrdiff_t>(sector * kSectorBytes));
  }
  expect_content("1.wal", expected);
}

TEST_P(FileSystemContract, ThreadsWriteSideBySideIntoOneSegment) {
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kSectorsEach = 12;
  std::unique_ptr<LogSegment> segment = make_segment("1.wal", kThreads * kSectorsEach * kSectorBytes);
  ASSERT_NE(segment, nullptr);
  Bytes expected = bytes_by_seed(3, kThreads * kSectorsEach * kSectorBytes);
  AlignedBuffer source = sectors_by_seed(3, expected.size());
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t turn = 0; turn < kSectorsEach; ++turn) {
        const std::size_t offset = (turn * kThreads + thread) * kSectorBytes;
        if (!segment->write(offset, source.bytes().subspan(offset, kSectorBytes), kPoint).ok()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  expect_content("1.wal", expected);
}

TEST_P(FileSystemContract, AFilledSegmentReadsAsZerosAndTakesWrites) {
  std::unique_ptr<LogSegment> segment = make_segment("1.wal", 3 * kMiB + kSectorBytes);
  ASSERT_NE(segment, nullptr);
  ASSERT_TRUE(is_ok(segment->fill()));
  EXPECT_LE(segment->filled_bytes(), segment->allocated_bytes());
  expect_content("1.wal", Bytes(segment->allocated_bytes()));
  ASSERT_TRUE(is_ok(segment->fill())) << "a second fill has nothing to do";

  const AlignedBuffer bytes = sectors_by_seed(1, 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment->write(2 * kMiB - kSectorBytes, bytes.bytes(), kPoint)));
  Bytes expected(segment->allocated_bytes());
  std::copy(bytes.bytes().begin(), bytes.bytes().end(), expected.begin() + (2 * kMiB - kSectorBytes));
  expect_content("1.wal", expected);
}

TEST_P(FileSystemContract, FillingKeepsWhatStandsInTheFirstSector) {
  std::unique_ptr<LogSegment> segment = make_segment("1.wal", 2 * kMiB);
  ASSERT_NE(segment, nullptr);
  const AlignedBuffer header = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok(segment->write(0, header.bytes(), kPoint)));
  ASSERT_TRUE(is_ok(segment->fill()));
  Bytes expected(2 * kMiB);
  std::copy(header.bytes().begin(), header.bytes().end(), expected.begin());
  expect_content("1.wal", expected);
}

TEST_P(FileSystemContract, ASegmentOfOneSectorFillsAndTakesItsWrite) {
  std::unique_ptr<LogSegment> segment = make_segment("1.wal", kSectorBytes);
  ASSERT_NE(segment, nullptr);
  ASSERT_TRUE(is_ok(segment->fill()));
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok(segment->write(0, bytes.bytes(), kPoint)));
  expect_content("1.wal", Bytes(bytes.bytes().begin(), bytes.bytes().end()));
}

TEST_P(FileSystemContract, FillingThatWasStoppedBeforeDoesNothing) {
  std::unique_ptr<LogSegment> segment = make_segment("1.wal", 4 * kMiB);
  ASSERT_NE(segment, nullptr);
  const std::uint64_t before = segment->filled_bytes();
  segment->stop_filling();
  segment->stop_filling();
  ASSERT_TRUE(is_ok(segment->fill()));
  EXPECT_EQ(segment->filled_bytes(), before);
}

// The filler and the writer interact only in stop_filling(): data written after its return stays.
TEST_P(FileSystemContract, WritesAfterStoppingARunningFillAreNotZeroed) {
  constexpr std::uint64_t kBytes = 6 * kMiB;
  AlignedBuffer bytes = sectors_by_seed(2, kBytes);
  for (const std::uint64_t stop_after : {std::uint64_t{0}, kMiB, 4 * kMiB}) {
    SCOPED_TRACE(stop_after);
    const std::string name = std::to_string(stop_after) + ".wal";
    std::unique_ptr<LogSegment> segment = make_segment(name, kBytes);
    ASSERT_NE(segment, nullptr);
    std::atomic<bool> ended{false};
    Status filled;
    std::thread filler([&] {
      filled = segment->fill();
      ended = true;
    });
    while (segment->filled_bytes() < stop_after && !ended) std::this_thread::yield();
    segment->stop_filling();
    const std::uint64_t filled_bytes = segment->filled_bytes();
    const Status written = segment->write(0, bytes.bytes(), kPoint);
    filler.join();
    EXPECT_TRUE(is_ok(filled));
    ASSERT_TRUE(is_ok(written));
    EXPECT_EQ(segment->filled_bytes(), filled_bytes) << "it went on after stop_filling() had returned";
    const Result<Bytes> content = read_whole(directory(), name);
    ASSERT_TRUE(is_ok(content));
    EXPECT_TRUE(std::equal(content->begin(), content->end(), bytes.bytes().begin(), bytes.bytes().end()));
  }
}

TEST_P(FileSystemContract, CutEndsTheFileAndTheWriting) {
  const AlignedBuffer bytes = sectors_by_seed(4, 8 * kSectorBytes);
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{kSectorBytes}, std::uint64_t{8 * kSectorBytes}}) {
    SCOPED_TRACE(size);
    const std::string name = std::to_string(size) + ".wal";
    std::unique_ptr<LogSegment> segment = make_segment(name, 8 * kSectorBytes);
    ASSERT_NE(segment, nullptr);
    ASSERT_TRUE(is_ok(segment->write(0, bytes.bytes(), kPoint)));
    ASSERT_TRUE(is_ok(segment->cut(size, kPoint)));
    expect_content(name, Bytes(bytes.bytes().begin(), bytes.bytes().begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_FALSE(segment->write(0, bytes.bytes().first(kSectorBytes), kPoint).ok());
    EXPECT_FALSE(segment->cut(0, kPoint).ok());
    expect_content(name, Bytes(bytes.bytes().begin(), bytes.bytes().begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

// -- Recycled segments ------------------------------------------------------------------------------------------------

TEST_P(LocalFileSystemContract, ARecycledSegmentKeepsItsOldBytesUnderTheNewNameAndReadsAsZerosBehindThem) {
  const AlignedBuffer old_bytes = sectors_by_seed(1, 4 * kSectorBytes);
  {
    std::unique_ptr<LogSegment> segment = make_segment("1.wal", 8 * kSectorBytes);
    ASSERT_NE(segment, nullptr);
    ASSERT_TRUE(is_ok(segment->write(0, old_bytes.bytes(), kPoint)));
    ASSERT_TRUE(is_ok(segment->cut(4 * kSectorBytes, kPoint)));
  }
  Result<std::unique_ptr<LogSegment>> again = directory().recycle_log_segment("1.wal", "2.wal", 8 * kSectorBytes);
  ASSERT_TRUE(is_ok(again));
  LogSegment& segment = **again;
  EXPECT_EQ(segment.allocated_bytes(), 8 * kSectorBytes);
  EXPECT_EQ(segment.filled_bytes(), 0U);
  EXPECT_GE(segment.prepared_bytes(), 4 * kSectorBytes) << "what was written before counts as prepared";
  EXPECT_TRUE(fails_with(directory().open("1.wal", ReadMode::kCached), ENOENT));

  // The first sector may be prepared anew.
  const AlignedBuffer header = sectors_by_seed(2, kSectorBytes);
  ASSERT_TRUE(is_ok(segment.write(0, header.bytes(), kPoint)));
  ASSERT_TRUE(is_ok(segment.fill()));
  segment.stop_filling();
  EXPECT_EQ(segment.prepared_bytes(), segment.allocated_bytes());
  Bytes expected(8 * kSectorBytes);
  std::copy(old_bytes.bytes().begin(), old_bytes.bytes().end(), expected.begin());
  std::copy(header.bytes().begin(), header.bytes().end(), expected.begin());
  expect_content("2.wal", expected);

  const AlignedBuffer written = sectors_by_seed(3, 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment.write(3 * kSectorBytes, written.bytes(), kPoint)));
  std::copy(written.bytes().begin(), written.bytes().end(), expected.begin() + 3 * kSectorBytes);
  expect_content("2.wal", expected);
  ASSERT_TRUE(is_ok(segment.cut(5 * kSectorBytes, kPoint)));
  expected.resize(5 * kSectorBytes);
  expect_content("2.wal", expected);
}

TEST_P(LocalFileSystemContract, AFileThatCannotBeRecycledStaysAsItIs) {
  const AlignedBuffer old_bytes = sectors_by_seed(1, 4 * kSectorBytes);
  for (const char* const name : {"1.wal", "2.wal"}) {
    std::unique_ptr<LogSegment> segment = make_segment(name, 4 * kSectorBytes);
    ASSERT_NE(segment, nullptr);
    ASSERT_TRUE(is_ok(segment->write(0, old_bytes.bytes(), kPoint)));
    ASSERT_TRUE(is_ok(segment->cut(4 * kSectorBytes, kPoint)));
  }
  EXPECT_TRUE(fails_with(directory().recycle_log_segment("none.wal", "3.wal", 4 * kSectorBytes), ENOENT));
  EXPECT_TRUE(fails_with(directory().recycle_log_segment("1.wal", "2.wal", 4 * kSectorBytes), EEXIST));
  EXPECT_TRUE(fails_with(directory().recycle_log_segment("1.wal", "3.wal", 2 * kSectorBytes), Code::kUnsupported));

  // A checkpoint may have linked it.
  ASSERT_TRUE(is_ok(files().create_directory(child_path("other"), kPoint)));
  Result<std::unique_ptr<Directory>> other = files().open_directory(child_path("other"));
  ASSERT_TRUE(is_ok(other));
  ASSERT_TRUE(is_ok(directory().link("1.wal", **other)));
  EXPECT_TRUE(fails_with(directory().recycle_log_segment("1.wal", "3.wal", 4 * kSectorBytes), Code::kUnsupported));
  Bytes expected(4 * kSectorBytes);
  std::copy(old_bytes.bytes().begin(), old_bytes.bytes().end(), expected.begin());
  expect_content("1.wal", expected);
  expect_content("2.wal", expected);
  ASSERT_TRUE(is_ok((*other)->remove("1.wal")));
  EXPECT_TRUE(is_ok(directory().recycle_log_segment("1.wal", "3.wal", 4 * kSectorBytes)));
}

TEST_P(FileSystemContract, FillingByStepsPreparesAsFarAsAsked) {
  std::unique_ptr<LogSegment> segment = make_segment("1.wal", 2 * kMiB);
  ASSERT_NE(segment, nullptr);
  std::uint64_t before = segment->prepared_bytes();
  EXPECT_GE(before, kSectorBytes);
  for (const std::uint64_t end : {kMiB / 2, kMiB / 4, kMiB, 4 * kMiB}) {
    ASSERT_TRUE(is_ok(segment->fill_to(end)));
    EXPECT_GE(segment->prepared_bytes(), std::min(end, segment->allocated_bytes()));
    EXPECT_GE(segment->prepared_bytes(), before);
    before = segment->prepared_bytes();
  }
  EXPECT_EQ(before, segment->allocated_bytes());
  expect_content("1.wal", Bytes(segment->allocated_bytes()));
}

// -- Shared memory ----------------------------------------------------------------------------------------------------

TEST_P(LocalFileSystemContract, SharedMemoryIsZeroAlignedAndReadByOpening) {
  constexpr std::size_t kBytes = 5 * kSectorBytes;
  const Bytes text = bytes_by_seed(5, kBytes);
  {
    Result<std::unique_ptr<SharedMemory>> memory = directory().create_shared_memory("buffer", kBytes);
    ASSERT_TRUE(is_ok(memory));
    const std::span<std::byte> bytes = (*memory)->bytes();
    ASSERT_EQ(bytes.size(), kBytes);
    EXPECT_TRUE(is_sector_aligned(bytes.data()));
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; }));
    std::copy(text.begin(), text.end(), bytes.begin());
    ASSERT_TRUE(is_ok((*memory)->keep(0, 2 * kSectorBytes + 7)));
    ASSERT_TRUE(is_ok((*memory)->keep(2 * kSectorBytes + 7, kBytes - 2 * kSectorBytes - 7)));
    EXPECT_TRUE(is_ok((*memory)->check()));
    const Result<Bytes> seen = read_whole(directory(), "buffer");
    ASSERT_TRUE(is_ok(seen));
    EXPECT_TRUE(*seen == text) << "while it is in use";
    EXPECT_TRUE(fails_with(directory().create_shared_memory("buffer", kBytes), EEXIST, path() + "/buffer"));
  }
  const Result<Bytes> seen = read_whole(directory(), "buffer");
  ASSERT_TRUE(is_ok(seen));
  EXPECT_TRUE(*seen == text) << "after it was let go";
}

TEST_P(LocalFileSystemContract, SharedMemoryStaysValidWhenItsFileIsRemoved) {
  Result<std::unique_ptr<SharedMemory>> memory = directory().create_shared_memory("buffer", kSectorBytes);
  ASSERT_TRUE(is_ok(memory));
  ASSERT_TRUE(is_ok(directory().remove("buffer")));
  (*memory)->bytes()[17] = std::byte{42};
  EXPECT_EQ((*memory)->bytes()[17], std::byte{42});
  EXPECT_TRUE(names_in(directory()).empty());
}

}  // namespace
}  // namespace varve::io::log_segment_contract_test
