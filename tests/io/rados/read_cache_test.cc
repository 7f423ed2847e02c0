// Goal: the local cache gives only bytes that were offered for the same place, whatever its file does, and never fails.
// Method: the content of each place follows from the place. A file in memory loses writes and flips bytes. Then the same over
// a real file, and below a directory of objects.
#include "io/rados/read_cache.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/env.h"
#include "io/rados/cache_file.h"
#include "io/rados/watched_door.h"
#include "tests/io/io_test_support.h"
#include "tests/io/rados/cached_place.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/rados_machine.h"

namespace varve::io::read_cache_test {
namespace {

constexpr std::uint64_t kSize = ReadCache::kSizeMin;

/// A file in memory, with faults.
class FaultyFile final : public CacheFile {
 public:
  explicit FaultyFile(std::uint64_t size) : bytes_(size) {}

  bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept override {
    hung.wait(true);
    if (refuses_writes || offset + bytes.size() > bytes_.size()) return false;
    if (loses_writes) return true;
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    return true;
  }
  bool read(std::uint64_t offset, std::span<std::byte> head, std::span<std::byte> body) noexcept override {
    ++reads;
    if (refuses_reads || offset + head.size() + body.size() > bytes_.size()) return false;
    const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    std::copy_n(from, head.size(), head.begin());
    std::copy_n(from + static_cast<std::ptrdiff_t>(head.size()), body.size(), body.begin());
    return true;
  }
  void flip(std::size_t at) { bytes_[at % bytes_.size()] ^= std::byte{0x10}; }

  bool refuses_writes = false;
  bool loses_writes = false;  // and reports them as done
  bool refuses_reads = false;
  std::atomic<std::uint64_t> reads = 0;
  std::atomic<bool> hung = false;  // Writes wait while it is set.

 private:
  Bytes bytes_;
};

using Place = CachedPlace;

class LocalCache : public testing::Test {
 protected:
  LocalCache() {
    auto file = std::make_unique<FaultyFile>(kSize);
    file_ = file.get();
    cache_ = *ReadCache::make(std::move(file), kSize, system_env().scheduler);
  }
  /// Reads as a file does. Returns whether the cache had the bytes.
  bool read(const Place& place) {
    Bytes bytes(place.size);
    if (cache_->read(place.object, place.offset, bytes)) {
      EXPECT_EQ(bytes, content_of(place)) << place.object << " at " << place.offset;
      return true;
    }
    cache_->offer(place.object, place.offset, content_of(place));
    cache_->settle();  // so that no offer meets a slow disk
    return false;
  }
  void take(const Place& place) {
    EXPECT_FALSE(read(place));
    EXPECT_FALSE(read(place));
  }
  /// Takes as many places as fill `segments`, from the number `first`.
  void fill(std::uint64_t first, std::uint64_t segments) {
    for (std::uint64_t i = 0; i < segments * 64; ++i) take(place_of(first + i));
  }

  FaultyFile* file_ = nullptr;
  std::unique_ptr<ReadCache> cache_;
};

TEST_F(LocalCache, TakesBytesAtTheirSecondOffer) {
  const Place place = place_of(1);
  EXPECT_FALSE(read(place));
  EXPECT_FALSE(read(place));
  EXPECT_TRUE(read(place));
  EXPECT_TRUE(read(place));
  EXPECT_EQ(cache_->figures().hits, 2U);
  EXPECT_EQ(cache_->figures().misses, 2U);
  EXPECT_EQ(cache_->figures().taken_bytes, place.size);
}

TEST_F(LocalCache, KnowsNoOtherPlace) {
  const Place place = place_of(1);
  take(place);
  EXPECT_FALSE(read({place.object, place.offset + 1, place.size}));
  EXPECT_FALSE(read({place.object, place.offset, place.size - 1}));
  EXPECT_FALSE(read({place.object + "1", place.offset, place.size}));
  EXPECT_TRUE(read(place));
}

TEST_F(LocalCache, LetsLongReadsAndLongNamesPass) {
  const Place longest{"object", 0, ReadCache::kEntryBytesMax};
  take(longest);
  EXPECT_TRUE(read(longest));
  for (const Place& place : {Place{"object", 0, ReadCache::kEntryBytesMax + 1}, Place{"object", 0, 0},
                             Place{std::string(4000, 'o'), 0, 10}}) {
    take(place);
    EXPECT_FALSE(read(place));
  }
}

TEST_F(LocalCache, ReadsFromItsFileWhatIsNotInMemory) {
  fill(0, 2);
  EXPECT_TRUE(read(place_of(0)));
  EXPECT_GT(file_->reads, 0U);
}

TEST_F(LocalCache, OverwritesTheOldestWhenItIsFull) {
  fill(0, 12);
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < 12 * 64; ++i) {
    Bytes bytes(place_of(i).size);
    const Place place = place_of(i);
    if (!cache_->read(place.object, place.offset, bytes)) continue;
    EXPECT_EQ(bytes, content_of(place));
    EXPECT_GE(i, 7U * 64) << "it is older than the cache";
    ++kept;
  }
  EXPECT_GT(kept, 3U * 60);
  EXPECT_EQ(cache_->figures().damaged, 0U) << "what was overwritten is not looked for";
}

TEST_F(LocalCache, AScanOfEverythingReplacesNothing) {
  for (std::uint64_t i = 0; i < 16; ++i) take(place_of(i));
  for (std::uint64_t i = 1000; i < 9000; ++i) EXPECT_FALSE(read(place_of(i)));
  for (std::uint64_t i = 0; i < 16; ++i) EXPECT_TRUE(read(place_of(i)));
}

TEST_F(LocalCache, DamagedBytesAreReadFromTheClusterAgain) {
  fill(0, 2);
  for (std::size_t at = 0; at < kSize; at += 8 << 10) file_->flip(at);
  EXPECT_FALSE(read(place_of(0)));
  EXPECT_EQ(cache_->figures().damaged, 1U);
  EXPECT_FALSE(read(place_of(0))) << "the entry is gone, and was offered once";
  EXPECT_TRUE(read(place_of(0)));
}

TEST_F(LocalCache, ADiskThatRefusesIsNoError) {
  file_->refuses_writes = true;
  fill(0, 3);
  EXPECT_GT(cache_->figures().failed_segments, 0U);
  EXPECT_FALSE(read(place_of(0)));
  file_->refuses_writes = false;
  fill(1000, 3);
  EXPECT_TRUE(read(place_of(1000)));
  file_->refuses_reads = true;
  EXPECT_FALSE(read(place_of(1001)));
}

TEST_F(LocalCache, AHungDiskHoldsUpNoReader) {
  fill(0, 2);
  EXPECT_TRUE(read(place_of(0)));
  file_->hung = true;
  const std::uint64_t reads = file_->reads;
  for (std::uint64_t i = 1000; i < 1200; ++i) {
    const Place place = place_of(i);
    for (int offer = 0; offer < 2; ++offer) cache_->offer(place.object, place.offset, content_of(place));
  }
  Bytes bytes(place_of(0).size);
  EXPECT_FALSE(cache_->read(place_of(0).object, place_of(0).offset, bytes)) << "it would wait for the disk";
  EXPECT_EQ(file_->reads, reads);
  file_->hung = false;
  file_->hung.notify_all();
  cache_->settle();
  EXPECT_TRUE(read(place_of(0)));
  EXPECT_TRUE(read(place_of(1000)));
}

TEST_F(LocalCache, TakesAtOnceWhatIsKept) {
  const Place place = place_of(1);
  for (int again = 0; again < 2; ++again) cache_->keep(place.object, place.offset, content_of(place));
  EXPECT_EQ(cache_->figures().taken_bytes, place.size) << "it is taken once";
  EXPECT_TRUE(read(place));
  EXPECT_FALSE(read(place_of(2)));
  cache_->keep(place_of(2).object, place_of(2).offset, content_of(place_of(2)));
  EXPECT_TRUE(read(place_of(2))) << "which was offered once before";
}

TEST_F(LocalCache, AHungDiskHoldsUpNoWriterForLong) {
  file_->hung = true;
  for (std::uint64_t i = 0; i < 400; ++i) cache_->keep(place_of(i).object, place_of(i).offset, content_of(place_of(i)));
  const std::uint64_t taken = cache_->figures().taken_bytes;
  EXPECT_LE(taken, 2 * ReadCache::kSegmentBytes);
  file_->hung = false;
  file_->hung.notify_all();
  cache_->settle();
  cache_->keep(place_of(400).object, place_of(400).offset, content_of(place_of(400)));
  EXPECT_TRUE(read(place_of(400)));
  EXPECT_TRUE(read(place_of(0)));
}

TEST_F(LocalCache, ForgetsWhatIsReadPastIt) {
  const Place place = place_of(1);
  take(place);
  EXPECT_TRUE(read(place));
  cache_->forget(place.object, place.offset, place.size + 1);
  EXPECT_TRUE(read(place));
  cache_->forget(place.object, place.offset, place.size);
  EXPECT_FALSE(read(place));
}

TEST_F(LocalCache, GivesNoWrongByteWhateverTheFileDoes) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 3000; ++i) {
      const std::size_t size = 1 + random() % (32 << 10);
      (void)read(place_of(random() % 500, random() % 4 == 0 ? size : 4096));
      if (random() % 8 == 0) file_->flip(random());
      file_->refuses_writes = random() % 64 == 0;
      file_->refuses_reads = random() % 64 == 0;
      file_->loses_writes = random() % 32 == 0;
    }
  }
  EXPECT_GT(cache_->figures().hits, 1000U);
}

TEST_F(LocalCache, ThreadsShareIt) {
  std::atomic<std::uint64_t> hits{0};
  std::vector<std::jthread> readers;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    readers.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      for (int i = 0; i < 2000; ++i) {
        const Place place = place_of(random() % 300, 32 << 10);  // twice the cache
        Bytes bytes(place.size);
        if (!cache_->read(place.object, place.offset, bytes)) {
          cache_->offer(place.object, place.offset, content_of(place));
          continue;
        }
        EXPECT_EQ(bytes, content_of(place));
        hits.fetch_add(1);
      }
    });
  }
  readers.clear();
  EXPECT_GT(hits.load(), 0U);
}

TEST(LocalCacheFile, HasNoNameAndKeepsItsBytes) {
  const TemporaryDirectory directory;
  Result<std::unique_ptr<CacheFile>> file = make_cache_file(directory.path());
  ASSERT_TRUE(is_ok(file));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  const std::unique_ptr<ReadCache> cache = *ReadCache::make(*std::move(file), kSize, system_env().scheduler);
  for (std::uint64_t i = 0; i < 3 * 64; ++i) {
    const Place place = place_of(i);
    cache->offer(place.object, place.offset, content_of(place));
    cache->offer(place.object, place.offset, content_of(place));
    cache->settle();
  }
  Bytes bytes(place_of(0).size);
  EXPECT_TRUE(cache->read(place_of(0).object, place_of(0).offset, bytes));
  EXPECT_EQ(bytes, content_of(place_of(0)));
  EXPECT_FALSE(make_cache_file(directory.path_of("absent")).ok());
  EXPECT_TRUE(fails_with(ReadCache::make(std::make_unique<FaultyFile>(1), kSize - 1, system_env().scheduler),
                         Code::kInvalidArgument, "4 MiB"));
}

/// A store's directory on the model of RADOS, of which this process is the owner. Reads of objects are counted.
class LocalCacheOfObjects : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(is_ok(files_.create_directory(test::kRadosPath, kTestPoint)));
    auto opened = files_.open_directory(test::kRadosPath);
    ASSERT_TRUE(is_ok(opened));
    directory_ = *std::move(opened);
    auto locked = directory_->lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(0));
    ASSERT_TRUE(is_ok(locked));
    lock_ = *std::move(locked);
  }
  static std::unique_ptr<ReadCache> make_cache() {
    return *ReadCache::make(std::make_unique<FaultyFile>(kSize), kSize, system_env().scheduler);
  }

  test::RadosMachine machine_{1};
  const std::unique_ptr<ObjectDoor> door_ = machine_.cluster.make_door();
  WatchedDoor watched_{*door_, machine_.clock};
  RadosFileSystem files_{"pool", watched_, machine_.clock, machine_.random, machine_.scheduler(), RadosOptions()};
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<DirectoryLock> lock_;
};

TEST_F(LocalCacheOfObjects, HasWhatTheWriterOfAFileExpectsToBeRead) {
  files_.process().set_read_cache(make_cache(), make_cache());
  const Bytes content = bytes_by_seed(1, kStripeBytes + 10000);
  const auto written = directory_->create("1.sst");
  ASSERT_TRUE(is_ok(written));
  (*written)->expect_read(4096, 8192);
  (*written)->expect_read(kStripeBytes - 4096, 8192);  // of two objects
  ASSERT_TRUE(is_ok((*written)->append(content)));
  (*written)->expect_read(0, 4096);                    // is on its way already
  (*written)->expect_read(kStripeBytes + 8192, 4096);  // The file ends before that.
  ASSERT_TRUE(is_ok((*written)->sync(kTestPoint)));
  EXPECT_EQ(files_.process().fresh_cache()->figures().taken_bytes, 2 * 8192U + 1808U);
  const auto file = directory_->open("1.sst", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  const auto reads_of = [&](std::uint64_t offset, std::size_t size) {
    const std::uint64_t before = watched_.reads().answered;
    Bytes bytes(size);
    EXPECT_TRUE(is_ok((*file)->read_exactly(offset, bytes)));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(offset)));
    return watched_.reads().answered - before;
  };
  EXPECT_EQ(reads_of(0, 4096), 1U);
  EXPECT_EQ(reads_of(kStripeBytes - 4096, 8192), 0U);
  EXPECT_EQ(reads_of(kStripeBytes + 8192, 1808), 0U);
  for (int again = 0; again < 3; ++again) EXPECT_EQ(reads_of(4096, 8192), 0U);
  EXPECT_EQ(files_.process().read_cache()->figures().taken_bytes, 8192U) << "it was read twice";
  Bytes bytes(8192);
  ASSERT_TRUE(is_ok((*file)->read_past_cache(4096, bytes)));
  EXPECT_EQ(reads_of(4096, 8192), 1U) << "both have forgotten it";
}

TEST_F(LocalCacheOfObjects, AnswersReadsOfTablesAndOfNothingElse) {
  files_.process().set_read_cache(make_cache());
  const Bytes content = content_of({"any", 0, 20000});
  ASSERT_TRUE(is_ok(write_whole(*directory_, "1.sst", std::span(content))));
  const auto file = directory_->open("1.sst", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  const auto reads_of = [&](const ReadableFile& from, bool past_cache) {
    const std::uint64_t before = watched_.reads().answered;
    Bytes bytes(4096);
    EXPECT_TRUE(is_ok(past_cache ? from.read_past_cache(8192, bytes) : from.read_exactly(8192, bytes)));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), content.begin() + 8192));
    return watched_.reads().answered - before;
  };
  EXPECT_EQ(reads_of(**file, false), 1U);
  EXPECT_EQ(reads_of(**file, false), 1U);
  EXPECT_EQ(reads_of(**file, false), 0U);
  EXPECT_EQ(reads_of(**file, true), 1U) << "a verification";
  EXPECT_EQ(reads_of(**file, false), 1U) << "the cache has forgotten the bytes";
  const auto cached = directory_->open("1.sst", ReadMode::kCached);
  ASSERT_TRUE(is_ok(cached));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reads_of(**cached, false), 1U) << "a part of a change";
}

}  // namespace
}  // namespace varve::io::read_cache_test
