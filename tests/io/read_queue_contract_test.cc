// The contract suite, part three: every statement of io/read_queue.h that each implementation can show.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <thread>

#include "tests/io/file_system_contract.h"

namespace varve::io::read_queue_contract_test {
namespace {

constexpr std::size_t kDepths[] = {1, 2, 7, 32};

/// A read that a test submitted, with its own memory.
struct Asked {
  std::uint64_t offset = 0;
  Bytes bytes;
};

class ReadQueueContract : public FileSystemContract {
 protected:
  std::unique_ptr<ReadQueue> make_queue(std::size_t depth) {
    Result<std::unique_ptr<ReadQueue>> made = files().make_read_queue(scheduler_, depth);
    EXPECT_TRUE(is_ok(made));
    return made.ok() ? *std::move(made) : nullptr;
  }

  std::unique_ptr<ReadQueue> make_queue_to_wake(std::size_t depth) {
    std::unique_ptr<ReadQueue> queue = make_queue(depth);
    EXPECT_TRUE(is_ok(queue->allow_wake()));
    return queue;
  }

  std::unique_ptr<ReadableFile> open_file(std::string_view name, ReadMode mode) {
    Result<std::unique_ptr<ReadableFile>> opened = directory().open(name, mode);
    EXPECT_TRUE(is_ok(opened));
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  /// Reaps until nothing is in flight. Each tag is returned once.
  static std::map<std::uint64_t, Status> reap_all(ReadQueue& queue) {
    std::map<std::uint64_t, Status> outcomes;
    std::vector<FinishedRead> finished(queue.depth());
    while (queue.in_flight() > 0) {
      const std::size_t before = queue.in_flight();
      const std::size_t count = queue.reap(finished, 1);
      EXPECT_GE(count, 1U);
      EXPECT_EQ(queue.in_flight(), before - count);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(outcomes.emplace(finished[i].tag, finished[i].status).second) << "tag " << finished[i].tag;
      }
    }
    return outcomes;
  }

  Scheduler scheduler_;
};
class LocalReadQueueContract : public ReadQueueContract {};

/// Looks repeatedly at memory of which every sector is zero. A read that is still in flight would change some of them.
void expect_stays_zero(std::span<const std::byte> bytes, int looks) {
  for (int look = 0; look < looks; ++look) {
    std::size_t changed = 0;
    for (std::size_t at = 0; at < bytes.size(); at += kSectorBytes) {
      if (bytes[at] != std::byte{0}) ++changed;
    }
    ASSERT_EQ(changed, 0U);
    std::this_thread::yield();
  }
}

enum class Woken : std::uint8_t { kNever, kMaybe };

/// Fills a queue repeatedly with reads at random places, and takes out finished reads.
void read_at_random(ReadQueue& queue, const std::vector<const ReadableFile*>& files, const Bytes& expected,
                    std::uint64_t seed, std::size_t read_count, Woken woken = Woken::kNever) {
  std::mt19937_64 random(seed);
  std::map<std::uint64_t, Asked> asked;
  std::vector<FinishedRead> finished(queue.depth());
  std::uint64_t next_tag = 0;
  while (next_tag < read_count || queue.in_flight() > 0) {
    while (next_tag < read_count && queue.in_flight() < queue.depth()) {
      const std::uint64_t offset = random() % (expected.size() + 1);
      const std::size_t size = random() % (std::min<std::size_t>(20'000, expected.size() - offset) + 1);
      Asked& read = asked[next_tag];
      read = {offset, Bytes(size)};
      ASSERT_TRUE(is_ok(queue.submit(*files[random() % files.size()], offset, read.bytes, next_tag)));
      ++next_tag;
    }
    const std::size_t wait_count = random() % (queue.in_flight() + 2);
    const std::size_t in_flight = queue.in_flight();
    const auto room = std::span(finished).first(1 + random() % finished.size());
    const std::size_t count = queue.reap(room, wait_count);
    ASSERT_LE(count, in_flight);
    ASSERT_GE(count, woken == Woken::kNever ? std::min({wait_count, in_flight, room.size()}) : 0);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(is_ok(finished[i].status));
      const auto found = asked.find(finished[i].tag);
      ASSERT_NE(found, asked.end()) << "tag " << finished[i].tag << " came twice, or was never given";
      const Asked& read = found->second;
      const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(read.offset);
      ASSERT_TRUE(std::equal(read.bytes.begin(), read.bytes.end(), begin))
          << read.bytes.size() << " bytes at " << read.offset;
      asked.erase(found);
    }
  }
  EXPECT_TRUE(asked.empty());
}

TEST_P(ReadQueueContract, ReadsComeBackOnceEachWithTheBytesOfTheirPlace) {
  const Bytes expected = bytes_by_seed(11, 700'001);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> cached = open_file("a", ReadMode::kCached);
  const std::unique_ptr<ReadableFile> direct = open_file("a", ReadMode::kDirect);
  for (const std::size_t depth : kDepths) {
    SCOPED_TRACE(depth);
    const std::unique_ptr<ReadQueue> queue = make_queue(depth);
    ASSERT_NE(queue, nullptr);
    EXPECT_EQ(queue->depth(), depth);
    for (const std::vector<const ReadableFile*>& files :
         {std::vector<const ReadableFile*>{cached.get()}, {direct.get()}, {cached.get(), direct.get()}}) {
      read_at_random(*queue, files, expected, depth, 300);
    }
  }
}

TEST_P(ReadQueueContract, WholeSectorsOfADirectFileComeBack) {
  constexpr std::size_t kSectors = 64;
  const AlignedBuffer expected = sectors_by_seed(12, kSectors * kSectorBytes);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected.bytes())));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  const std::unique_ptr<ReadQueue> queue = make_queue(kSectors);
  Result<AlignedBuffer> memory = AlignedBuffer::allocate(kSectors * kSectorBytes);
  for (std::size_t sector = 0; sector < kSectors; ++sector) {
    const std::size_t from = (sector * 29) % kSectors;
    ASSERT_TRUE(is_ok(
        queue->submit(*file, from * kSectorBytes, memory->bytes().subspan(from * kSectorBytes, kSectorBytes), sector)));
  }
  EXPECT_EQ(reap_all(*queue).size(), kSectors);
  EXPECT_TRUE(std::equal(memory->bytes().begin(), memory->bytes().end(), expected.bytes().begin()));
}

TEST_P(ReadQueueContract, OneMoreThanItsDepthIsBusyAndChangesNothing) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("12345"))));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kCached);
  for (const std::size_t depth : kDepths) {
    SCOPED_TRACE(depth);
    const std::unique_ptr<ReadQueue> queue = make_queue(depth);
    std::vector<Bytes> memory(depth, Bytes(5));
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < depth; ++i) {
        ASSERT_TRUE(is_ok(queue->submit(*file, 0, memory[i], i)));
        EXPECT_EQ(queue->in_flight(), i + 1);
      }
      Bytes left_alone = bytes_of("xxxxx");
      EXPECT_TRUE(fails_with(queue->submit(*file, 0, left_alone, 99), Code::kBusy, "is full"));
      EXPECT_EQ(queue->in_flight(), depth);
      const std::map<std::uint64_t, Status> outcomes = reap_all(*queue);
      EXPECT_EQ(outcomes.size(), depth);
      EXPECT_FALSE(outcomes.contains(99));
      EXPECT_EQ(left_alone, bytes_of("xxxxx"));
      for (const Bytes& bytes : memory) EXPECT_EQ(bytes, bytes_of("12345"));
    }
  }
}

TEST_P(ReadQueueContract, DepthsOutOfRangeAreRefused) {
  EXPECT_TRUE(fails_with(files().make_read_queue(scheduler_, 0), Code::kInvalidArgument));
  EXPECT_TRUE(fails_with(files().make_read_queue(scheduler_, kReadDepthMax + 1), Code::kInvalidArgument));
  EXPECT_TRUE(is_ok(files().make_read_queue(scheduler_, kReadDepthMax)));
}

TEST_P(ReadQueueContract, AReadPastTheEndIsCorruptionAndHarmsNoOther) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("12345"))));
  for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
    const std::unique_ptr<ReadableFile> file = open_file("a", mode);
    const std::unique_ptr<ReadQueue> queue = make_queue(8);
    Bytes one(1);
    Bytes six(6);
    Bytes two(2);
    ASSERT_TRUE(is_ok(queue->submit(*file, 5, one, 1)));
    ASSERT_TRUE(is_ok(queue->submit(*file, 0, six, 2)));
    ASSERT_TRUE(is_ok(queue->submit(*file, 3, two, 3)));
    ASSERT_TRUE(is_ok(queue->submit(*file, UINT64_MAX, {}, 4)));
    ASSERT_TRUE(is_ok(queue->submit(*file, 5, {}, 5)));
    const std::map<std::uint64_t, Status> outcomes = reap_all(*queue);
    ASSERT_EQ(outcomes.size(), 5U);
    EXPECT_TRUE(fails_with(outcomes.at(1), Code::kCorruption, path() + "/a"));
    EXPECT_TRUE(fails_with(outcomes.at(1), Code::kCorruption, "5"));
    EXPECT_TRUE(fails_with(outcomes.at(2), Code::kCorruption, path() + "/a"));
    EXPECT_TRUE(is_ok(outcomes.at(3)));
    EXPECT_EQ(two, bytes_of("45"));
    EXPECT_TRUE(fails_with(outcomes.at(4), Code::kCorruption));
    EXPECT_TRUE(is_ok(outcomes.at(5)));
  }
}

TEST_P(ReadQueueContract, ReapOfAnEmptyQueueTellsNothing) {
  const std::unique_ptr<ReadQueue> queue = make_queue(4);
  std::array<FinishedRead, 4> finished;
  EXPECT_EQ(queue->reap(finished, 0), 0U);
  EXPECT_EQ(queue->reap(finished, 4), 0U);
  EXPECT_EQ(queue->reap({}, 4), 0U);
}

TEST_P(ReadQueueContract, ReapWaitsForAsManyAsItIsAskedFor) {
  const Bytes expected = bytes_by_seed(13, 100'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  const std::unique_ptr<ReadQueue> queue = make_queue(16);
  for (std::size_t wait_count = 0; wait_count <= 17; ++wait_count) {
    std::vector<Bytes> memory(16, Bytes(5000));
    for (std::size_t i = 0; i < 16; ++i) ASSERT_TRUE(is_ok(queue->submit(*file, i * 5000, memory[i], i)));
    std::array<FinishedRead, 16> finished;
    const std::size_t count = queue->reap(finished, wait_count);
    EXPECT_GE(count, std::min<std::size_t>(wait_count, 16));
    EXPECT_EQ(queue->in_flight(), 16 - count);
    EXPECT_EQ(reap_all(*queue).size(), 16 - count);
  }
}

TEST_P(ReadQueueContract, WhatDoesNotFitIsToldNextTime) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("12345"))));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kCached);
  const std::unique_ptr<ReadQueue> queue = make_queue(10);
  std::vector<Bytes> memory(10, Bytes(5));
  for (std::size_t i = 0; i < 10; ++i) ASSERT_TRUE(is_ok(queue->submit(*file, 0, memory[i], i)));
  std::array<FinishedRead, 3> few;
  std::vector<bool> seen(10);
  for (const std::size_t left : {7U, 4U, 1U, 0U}) {
    const std::size_t count = queue->reap(few, 10);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_FALSE(seen[few[i].tag]);
      seen[few[i].tag] = true;
    }
    EXPECT_EQ(queue->in_flight(), left);
  }
}

TEST_P(ReadQueueContract, WithoutWaitingAllAreFinishedInTheEnd) {
  const Bytes expected = bytes_by_seed(14, 64 * kSectorBytes);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  const std::unique_ptr<ReadQueue> queue = make_queue(64);
  Result<AlignedBuffer> memory = AlignedBuffer::allocate(expected.size());
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(
        is_ok(queue->submit(*file, i * kSectorBytes, memory->bytes().subspan(i * kSectorBytes, kSectorBytes), i)));
  }
  std::array<FinishedRead, 64> finished;
  while (queue->in_flight() > 0) {
    for (std::size_t i = queue->reap(finished, 0); i-- > 0;) EXPECT_TRUE(is_ok(finished[i].status));
    std::this_thread::yield();
  }
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), memory->bytes().begin()));
}

TEST_P(ReadQueueContract, TheEndOfAQueueWaitsForItsReads) {
  constexpr std::size_t kReads = 64;
  constexpr std::size_t kReadBytes = 32 * kSectorBytes;
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_by_seed(15, kReads * kReadBytes))));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  Result<AlignedBuffer> memory = AlignedBuffer::allocate(kReads * kReadBytes);
  const std::span<std::byte> bytes = memory->bytes();
  for (int round = 0; round < 6; ++round) {
    std::unique_ptr<ReadQueue> queue = make_queue(kReads);
    for (std::size_t i = 0; i < kReads; ++i) {
      ASSERT_TRUE(is_ok(queue->submit(*file, i * kReadBytes, bytes.subspan(i * kReadBytes, kReadBytes), i)));
    }
    FinishedRead one;
    if (round % 2 == 0) queue->reap(std::span(&one, 1), 0);  // All have begun.
    queue.reset();
    std::fill(bytes.begin(), bytes.end(), std::byte{0});  // The file has no zeros.
    expect_stays_zero(bytes, 200);
  }
}

TEST_P(LocalReadQueueContract, ARemovedFileIsReadToItsEnd) {
  const Bytes expected = bytes_by_seed(17, 50'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  const std::unique_ptr<ReadQueue> queue = make_queue(4);
  Bytes memory(50'000);
  ASSERT_TRUE(is_ok(queue->submit(*file, 0, memory, 1)));
  ASSERT_TRUE(is_ok(directory().remove("a")));
  EXPECT_TRUE(is_ok(reap_all(*queue).at(1)));
  EXPECT_TRUE(memory == expected);
}

TEST_P(ReadQueueContract, ManyQueuesInManyThreads) {
  const Bytes expected = bytes_by_seed(18, 300'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> cached = open_file("a", ReadMode::kCached);
  const std::unique_ptr<ReadableFile> direct = open_file("a", ReadMode::kDirect);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      const std::unique_ptr<ReadQueue> first = make_queue(8);
      const std::unique_ptr<ReadQueue> second = make_queue(3);
      read_at_random(*first, {cached.get(), direct.get()}, expected, seed, 200);
      read_at_random(*second, {cached.get(), direct.get()}, expected, seed, 50);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ReadQueueContract, AnIdleQueuePassesFromThreadToThread) {
  const Bytes expected = bytes_by_seed(19, 300'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  std::unique_ptr<ReadQueue> queue = make_queue(16);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    std::thread([&] { read_at_random(*queue, {file.get()}, expected, seed, 100); }).join();
  }
  std::thread([&] { queue.reset(); }).join();
}

TEST_P(ReadQueueContract, FilesOfAnotherKindAreReadTheSame) {
  const Bytes expected = bytes_by_seed(20, 100'000);
  MemoryFileSystem memory;
  ASSERT_TRUE(is_ok(memory.create_directory("/other", kPoint)));
  const std::unique_ptr<Directory> other = *memory.open_directory("/other");
  ASSERT_TRUE(is_ok(write_whole(*other, "a", expected)));
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> own_file = open_file("a", ReadMode::kDirect);
  const std::unique_ptr<ReadableFile> other_file = *other->open("a", ReadMode::kDirect);
  const std::unique_ptr<ReadQueue> queue = make_queue(8);
  read_at_random(*queue, {own_file.get(), other_file.get()}, expected, 20, 200);
}

TEST_P(ReadQueueContract, AQueueThatMayBeWokenAndIsNotWaitsAsEver) {
  const Bytes expected = bytes_by_seed(21, 300'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  for (const std::size_t depth : kDepths) {
    SCOPED_TRACE(depth);
    const std::unique_ptr<ReadQueue> queue = make_queue_to_wake(depth);
    read_at_random(*queue, {file.get()}, expected, depth, 300);
  }
}

TEST_P(ReadQueueContract, WakesBeforeAReapEndItEarlyAndLoseOrDoubleNoRead) {
  constexpr std::size_t kReads = 16;
  const Bytes expected = bytes_by_seed(22, kReads * 5000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  const std::unique_ptr<ReadQueue> queue = make_queue_to_wake(kReads);
  for (int wakes = 0; wakes < 40; ++wakes) {
    std::vector<Bytes> memory(kReads, Bytes(5000));
    for (std::size_t i = 0; i < kReads; ++i) ASSERT_TRUE(is_ok(queue->submit(*file, i * 5000, memory[i], i)));
    for (int i = 0; i < wakes; ++i) queue->wake();
    std::array<FinishedRead, kReads> finished;
    std::vector<int> told(kReads);
    int early = 0;
    while (queue->in_flight() > 0) {
      const std::size_t wanted = queue->in_flight();
      const std::size_t count = queue->reap(finished, wanted);
      if (count < wanted) ++early;
      for (const FinishedRead& read : std::span(finished).first(count)) {
        EXPECT_TRUE(is_ok(read.status));
        ++told[read.tag];
      }
    }
    EXPECT_LE(early, wakes + 1) << "one may be left of the round before";
    EXPECT_EQ(told, std::vector<int>(kReads, 1));
    for (std::size_t i = 0; i < kReads; ++i) {
      EXPECT_TRUE(
          std::equal(memory[i].begin(), memory[i].end(), expected.begin() + static_cast<std::ptrdiff_t>(i) * 5000));
    }
  }
}

TEST_P(ReadQueueContract, WithNothingInFlightAWakeHarmsNothing) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("12345"))));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kCached);
  const std::unique_ptr<ReadQueue> queue = make_queue_to_wake(4);
  std::array<FinishedRead, 4> finished;
  for (int round = 0; round < 10; ++round) {
    queue->wake();
    EXPECT_EQ(queue->reap(finished, 0), 0U);
    EXPECT_EQ(queue->reap(finished, 4), 0U);
    EXPECT_EQ(queue->reap({}, 4), 0U);
    Bytes memory(5);
    ASSERT_TRUE(is_ok(queue->submit(*file, 0, memory, 7)));
    std::size_t told = 0;
    while (queue->in_flight() > 0) told += queue->reap(finished, 1);
    EXPECT_EQ(told, 1U);
    EXPECT_EQ(memory, bytes_of("12345"));
  }
}

TEST_P(ReadQueueContract, AThreadThatWakesAllTheTimeLosesNoRead) {
  const Bytes expected = bytes_by_seed(23, 300'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> cached = open_file("a", ReadMode::kCached);
  const std::unique_ptr<ReadableFile> direct = open_file("a", ReadMode::kDirect);
  for (const std::size_t depth : kDepths) {
    SCOPED_TRACE(depth);
    const std::unique_ptr<ReadQueue> queue = make_queue_to_wake(depth);
    std::atomic<bool> ends{false};
    std::thread waker([&] {
      while (!ends.load()) {
        queue->wake();
        std::this_thread::yield();
      }
    });
    read_at_random(*queue, {cached.get(), direct.get()}, expected, depth, 300, Woken::kMaybe);
    ends.store(true);
    waker.join();
  }
}

TEST_P(ReadQueueContract, TheEndOfAQueueThatWasWokenWaitsForItsReads) {
  constexpr std::size_t kReads = 32;
  constexpr std::size_t kReadBytes = 8 * kSectorBytes;
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_by_seed(24, kReads * kReadBytes))));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  Result<AlignedBuffer> memory = AlignedBuffer::allocate(kReads * kReadBytes);
  const std::span<std::byte> bytes = memory->bytes();
  for (int round = 0; round < 12; ++round) {
    std::unique_ptr<ReadQueue> queue = make_queue_to_wake(kReads);
    for (std::size_t i = 0; i < kReads; ++i) {
      ASSERT_TRUE(is_ok(queue->submit(*file, i * kReadBytes, bytes.subspan(i * kReadBytes, kReadBytes), i)));
    }
    std::array<FinishedRead, kReads> finished;
    if (round % 2 == 0) queue->wake();
    if (round % 4 < 2) queue->reap(finished, kReads / 2);  // waits, so that an alarm is set
    if (round % 3 == 0) queue->wake();
    queue.reset();
    std::fill(bytes.begin(), bytes.end(), std::byte{0});  // The file has no zeros.
    expect_stays_zero(bytes, 50);
  }
}

TEST_P(ReadQueueContract, AQueueThatIsWokenPassesFromThreadToThread) {
  const Bytes expected = bytes_by_seed(25, 300'000);
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected)));
  const std::unique_ptr<ReadableFile> file = open_file("a", ReadMode::kDirect);
  std::unique_ptr<ReadQueue> queue = make_queue_to_wake(16);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::thread([&] { read_at_random(*queue, {file.get()}, expected, seed, 100, Woken::kMaybe); }).join();
    if (seed % 2 == 0) queue->wake();
  }
  std::thread([&] { queue.reset(); }).join();
}

INSTANTIATE_TEST_SUITE_P(Every, ReadQueueContract, every_file_system(),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Every, LocalReadQueueContract, every_local_file_system(),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace varve::io::read_queue_contract_test
