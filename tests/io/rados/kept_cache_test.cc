// Goal: a local cache that ended cleanly leaves its entries to the next process, and no other end makes that one believe
// anything.
// Method: caches in a real directory, whose files are damaged, taken away and put back between two of them. The content of
// each place follows from the place.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/env.h"
#include "io/rados/cache_file.h"
#include "io/rados/read_cache.h"
#include "tests/io/io_test_support.h"
#include "tests/io/posix/recorded_calls.h"
#include "tests/io/rados/cached_place.h"
#include "tests/io/temporary_directory.h"

namespace varve::io::kept_cache_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCacheSize = ReadCache::kSizeMin;
constexpr std::uint64_t kPlaces = 128;  // more than two segments
constexpr std::size_t kIndexBytes = 48 + kCacheSize / ReadCache::kBytesForOneOfIndex + 8;

std::string content_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class KeptCache : public testing::Test {
 protected:
  std::unique_ptr<ReadCache> open(std::uint64_t size_bytes = kCacheSize) {
    Result<CacheFiles> files = open_cache_files(directory_.path(), "cache");
    EXPECT_TRUE(is_ok(files));
    return *ReadCache::make(std::move(files->blocks), size_bytes, system_env().scheduler, std::move(files->index));
  }
  static void take(ReadCache& cache, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      const CachedPlace place = place_of(i);
      const Bytes content = content_of(place);
      for (int offer = 0; offer < 2; ++offer) cache.offer(place.object, place.offset, content);
      cache.settle();
    }
  }
  /// Returns how many of these places the cache has. They must have their own bytes.
  static std::uint64_t hits(ReadCache& cache, std::uint64_t first, std::uint64_t count) {
    std::uint64_t hits = 0;
    for (std::uint64_t i = first; i < first + count; ++i) {
      const CachedPlace place = place_of(i);
      Bytes bytes(place.size);
      if (!cache.read(place.object, place.offset, bytes)) continue;
      EXPECT_EQ(bytes, content_of(place)) << place.object << " at " << place.offset;
      ++hits;
    }
    return hits;
  }
  /// Leaves the files of a cache that has the places, and has ended.
  void leave(std::uint64_t first, std::uint64_t count) { take(*open(), first, count); }

  const TemporaryDirectory directory_;
  const std::string blocks_ = directory_.path_of("cache");
  const std::string index_ = directory_.path_of("cache.index");
};

TEST_F(KeptCache, BeginsWithTheEntriesOfTheFormerOne) {
  leave(0, kPlaces);
  EXPECT_EQ(fs::file_size(index_), kIndexBytes);
  EXPECT_EQ(fs::status(index_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const std::unique_ptr<ReadCache> cache = open();
  EXPECT_TRUE(cache->figures().is_kept);
  EXPECT_EQ(cache->figures().found_entries, kPlaces);
  EXPECT_EQ(hits(*cache, 0, kPlaces), kPlaces);
  EXPECT_EQ(hits(*cache, kPlaces, kPlaces), 0U);
  EXPECT_EQ(cache->figures().damaged, 0U);
}

TEST_F(KeptCache, HasNoIndexByTheTimeItWritesABlock) {
  leave(0, kPlaces);
  const std::unique_ptr<ReadCache> cache = open();
  take(*cache, kPlaces, 1);
  EXPECT_TRUE(fs::exists(index_)) << "it is right";
  RecordedCalls calls(directory_.path());
  take(*cache, kPlaces + 1, 64);
  EXPECT_FALSE(fs::exists(index_));
  EXPECT_EQ(calls.take(), (std::vector<std::string>{"fsync .", "write cache"})) << "which makes the removal durable";
}

TEST_F(KeptCache, ThatWritesNoBlockLeavesTheIndexAsItIs) {
  leave(0, kPlaces);
  const std::string index = content_of_file(index_);
  for (int process = 0; process < 2; ++process) {
    EXPECT_EQ(hits(*open(), 0, kPlaces), kPlaces);
    EXPECT_EQ(content_of_file(index_), index);
  }
  open(2 * kCacheSize).reset();
  EXPECT_EQ(open()->figures().found_entries, 0U) << "a cache of another size has emptied the file";
}

TEST_F(KeptCache, GoesOnWithTheLogOfTheFormerOnes) {
  for (std::uint64_t process = 0; process < 6; ++process) {
    const std::unique_ptr<ReadCache> cache = open();
    // The log has four segments. A process fills one and a part of another.
    if (process > 0) {
      EXPECT_EQ(hits(*cache, (process - 1) * 100, 100), 100U) << process;
    }
    if (process > 3) {
      EXPECT_EQ(hits(*cache, 0, 100), 0U) << process;
    }
    take(*cache, process * 100, 100);
    EXPECT_EQ(cache->figures().damaged, 0U);
  }
}

TEST_F(KeptCache, RemembersTheFirstOffers) {
  const CachedPlace place = place_of(1);
  open()->offer(place.object, place.offset, content_of(place));
  const std::unique_ptr<ReadCache> cache = open();
  cache->offer(place.object, place.offset, content_of(place));
  EXPECT_EQ(hits(*cache, 1, 1), 1U);
}

TEST_F(KeptCache, ThatWasKilledLeavesNothing) {
  leave(0, kPlaces);
  const std::unique_ptr<ReadCache> killed = open();
  take(*killed, kPlaces, kPlaces);
  const TemporaryDirectory after;  // has the files of that moment
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_.path())) {
    fs::copy(entry.path(), after.path());
  }
  ASSERT_GT(fs::file_size(after.path_of("cache")), 0U);
  Result<CacheFiles> files = open_cache_files(after.path(), "cache");
  ASSERT_TRUE(is_ok(files));
  ASSERT_NE(files->index, nullptr);
  const std::unique_ptr<ReadCache> cache =
      *ReadCache::make(std::move(files->blocks), kCacheSize, system_env().scheduler, std::move(files->index));
  EXPECT_EQ(cache->figures().found_entries, 0U);
  EXPECT_EQ(cache->figures().damaged, 0U);
  EXPECT_EQ(fs::file_size(after.path_of("cache")), 0U) << "its space is given back";
  EXPECT_EQ(hits(*cache, 0, 2 * kPlaces), 0U);
}

TEST_F(KeptCache, GivesNoBytesOfAnotherPlaceByAnIndexThatCameBack) {
  leave(0, kPlaces);
  const std::string stale = content_of_file(index_);
  leave(1000, 6 * 64);
  write_file(index_, stale);
  fs::permissions(index_, fs::perms::owner_read | fs::perms::owner_write);
  const std::unique_ptr<ReadCache> cache = open();
  EXPECT_EQ(cache->figures().found_entries, kPlaces) << "it verifies, and its blocks do not";
  EXPECT_EQ(hits(*cache, 0, kPlaces), 0U);
  EXPECT_EQ(cache->figures().damaged, kPlaces);
  take(*cache, 0, 1);
  EXPECT_EQ(hits(*cache, 0, 1), 1U);
}

TEST_F(KeptCache, BelievesNoDamagedIndex) {
  leave(0, kPlaces);
  const std::string index = content_of_file(index_);
  const std::string blocks = content_of_file(blocks_);
  const auto found_after = [&](const std::string& changed) {
    write_file(blocks_, blocks);
    write_file(index_, changed);
    fs::permissions(index_, fs::perms::owner_read | fs::perms::owner_write);
    const std::unique_ptr<ReadCache> cache = open();
    EXPECT_EQ(hits(*cache, 0, kPlaces), cache->figures().found_entries);
    return std::pair(cache->figures().found_entries, cache->figures().damaged);
  };
  using Found = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(found_after(index), Found(kPlaces, 0));
  for (const std::size_t at : {0UL, 8UL}) {
    std::string changed = index;
    ++changed[at];
    EXPECT_EQ(found_after(changed), Found(0, 0)) << "another format or version, by the byte " << at;
  }
  for (const std::size_t at : {16UL, 24UL, 32UL, 40UL, 48UL, kIndexBytes / 2, kIndexBytes - 9, kIndexBytes - 1}) {
    std::string changed = index;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    EXPECT_EQ(found_after(changed), Found(0, 1)) << at;
  }
  EXPECT_EQ(found_after(""), Found(0, 0));
  EXPECT_EQ(found_after(index.substr(0, kIndexBytes / 2)), Found(0, 1));
  EXPECT_EQ(found_after(index.substr(0, kIndexBytes - 1)), Found(0, 1));
  EXPECT_EQ(found_after(index + "x"), Found(0, 1));
}

TEST_F(KeptCache, OfAnotherSizeBeginsEmpty) {
  leave(0, kPlaces);
  {
    const std::unique_ptr<ReadCache> cache = open(2 * kCacheSize);
    EXPECT_EQ(cache->figures().found_entries, 0U);
    EXPECT_EQ(cache->figures().damaged, 0U);
    EXPECT_EQ(fs::file_size(blocks_), 0U);
    take(*cache, 0, 1);
  }
  const std::unique_ptr<ReadCache> cache = open(2 * kCacheSize);
  EXPECT_EQ(cache->figures().found_entries, 1U);
  EXPECT_EQ(hits(*cache, 0, 1), 1U);
}

TEST_F(KeptCache, IsNotSharedByTwo) {
  std::unique_ptr<ReadCache> first = open();
  {
    const std::unique_ptr<ReadCache> second = open();
    EXPECT_FALSE(second->figures().is_kept);
    take(*second, 500, 1);
    EXPECT_EQ(hits(*second, 500, 1), 1U);
    take(*first, 0, 1);
  }
  EXPECT_FALSE(fs::exists(index_));
  first.reset();
  const std::unique_ptr<ReadCache> next = open();
  EXPECT_TRUE(next->figures().is_kept);
  EXPECT_EQ(next->figures().found_entries, 1U);
  EXPECT_EQ(hits(*next, 0, 1), 1U);
}

TEST_F(KeptCache, UsesNoFileThatOthersMayWrite) {
  leave(0, 1);
  fs::permissions(blocks_, fs::perms::others_write, fs::perm_options::add);
  const std::string index = content_of_file(index_);
  EXPECT_FALSE(open()->figures().is_kept);
  EXPECT_EQ(content_of_file(index_), index);
  fs::permissions(blocks_, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(index_, fs::perms::others_write, fs::perm_options::add);
  const std::unique_ptr<ReadCache> cache = open();
  EXPECT_TRUE(cache->figures().is_kept);
  EXPECT_EQ(cache->figures().found_entries, 0U);
}

TEST_F(KeptCache, FollowsNoLink) {
  const std::string other = directory_.path_of("other");
  write_file(other, "other");
  fs::create_symlink(other, blocks_);
  take(*open(), 0, kPlaces);
  EXPECT_EQ(content_of_file(other), "other");
  fs::remove(blocks_);
  fs::create_symlink(other, index_);
  const std::unique_ptr<ReadCache> cache = open();
  EXPECT_TRUE(cache->figures().is_kept);
  EXPECT_FALSE(fs::is_symlink(index_));
  EXPECT_EQ(content_of_file(other), "other");
}

TEST_F(KeptCache, WhoseNameWasTakenLeavesNoIndex) {
  std::unique_ptr<ReadCache> cache = open();
  take(*cache, 0, 1);
  fs::remove(blocks_);
  const std::unique_ptr<ReadCache> other = open();
  EXPECT_TRUE(other->figures().is_kept);
  cache.reset();
  EXPECT_FALSE(fs::exists(index_));
}

}  // namespace
}  // namespace varve::io::kept_cache_test
