// Contents with shared pages compared with plain vectors, and the functions by which tests read and change a disk.
#include "io/simulated/memory_disk.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_content.h"
#include "tests/io/simulated/memory_test_support.h"

namespace varve::io::memory_disk_test {
namespace {

// -- MemoryContent ----------------------------------------------------------------------------------------------------

constexpr std::uint64_t kSizeMax = 70 * kPageBytes;  // More than a chunk.

/// Returns a place at or near a page boundary, or any place.
std::uint64_t random_place(RandomSource& random, std::uint64_t bound) {
  const std::uint64_t place = random_below(random, bound + 1);
  if (one_in(random, 2)) return place;
  const std::uint64_t near = place / kPageBytes * kPageBytes + random_below(random, 3);
  return std::min(near == 0 ? 0 : near - 1, bound);
}

void change_both(MemoryContent& content, Bytes& model, RandomSource& random) {
  const std::uint64_t place = random_place(random, kSizeMax);
  if (one_in(random, 3)) {
    content.resize(place);
    model.resize(place);
    return;
  }
  const std::uint64_t length = std::min(random_place(random, 3 * kPageBytes), kSizeMax - place);
  const Bytes written = bytes_by_seed(random.next(), length);
  content.write(place, written);
  if (written.empty()) return;
  model.resize(std::max<std::uint64_t>(model.size(), place + length));
  std::copy(written.begin(), written.end(), model.begin() + static_cast<std::ptrdiff_t>(place));
}

TEST(MemoryContent, ReadsAsAVectorOfBytesDoes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    MemoryContent content;
    Bytes model;
    for (int step = 0; step < 40; ++step) {
      change_both(content, model, random);
      ASSERT_EQ(content.size_bytes(), model.size());
      // As text, because the comparison is faster.
      ASSERT_TRUE(text_of(content.to_bytes()) == text_of(model)) << "step " << step;
      const std::uint64_t offset = random_place(random, model.size());
      Bytes part(static_cast<std::size_t>(std::min<std::uint64_t>(model.size() - offset, 5000)));
      content.read(offset, part);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), model.begin() + static_cast<std::ptrdiff_t>(offset)));
    }
  }
}

TEST(MemoryContent, CopiesDoNotSeeEachOthersChanges) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    MemoryContent content;
    Bytes model;
    for (int i = 0; i < 10; ++i) change_both(content, model, random);
    const MemoryContent copy = content;
    const Bytes copy_model = model;
    EXPECT_TRUE(copy == content);
    for (int i = 0; i < 10; ++i) change_both(content, model, random);
    EXPECT_TRUE(copy.to_bytes() == copy_model);
    EXPECT_TRUE(content.to_bytes() == model);
    EXPECT_EQ(copy == content, copy_model == model);
  }
}

TEST(MemoryContent, WhatIsCutOffIsZeroWhenItGrowsAgain) {
  for (const std::uint64_t cut : {std::uint64_t{0}, std::uint64_t{1}, kPageBytes - 1, kPageBytes, kPageBytes + 1}) {
    SCOPED_TRACE(cut);
    MemoryContent content;
    Bytes model = bytes_by_seed(1, 2 * kPageBytes + 7);
    content.write(0, model);
    content.resize(cut);
    content.resize(2 * kPageBytes + 7);
    std::fill(model.begin() + static_cast<std::ptrdiff_t>(cut), model.end(), std::byte{0});
    EXPECT_TRUE(content.to_bytes() == model);
  }
}

TEST(MemoryContent, AbsentPagesEqualZeroPages) {
  MemoryContent written;
  written.write(0, Bytes(kPageBytes));
  MemoryContent grown;
  EXPECT_FALSE(written == grown);
  grown.resize(kPageBytes);
  EXPECT_TRUE(written == grown);
  grown.write(kPageBytes - 1, bytes_of("x"));
  EXPECT_FALSE(written == grown);
}

// -- MemoryDisk -------------------------------------------------------------------------------------------------------

TEST(MemoryDisk, PathsAreTakenApartAtTheLastSlash) {
  EXPECT_EQ(normal_path("/a//b/"), "/a/b");
  EXPECT_EQ(normal_path("a/./b"), "a/b");
  EXPECT_EQ(normal_path("./a"), "a");
  EXPECT_EQ(normal_path("/"), "/");
  EXPECT_EQ(normal_path(""), ".");
  EXPECT_EQ(split_path("/store/CURRENT").directory, "/store");
  EXPECT_EQ(split_path("/store/CURRENT").name, "CURRENT");
  EXPECT_EQ(split_path("/x").directory, "/");
  EXPECT_EQ(split_path("x").directory, ".");
}

TEST(MemoryDisk, FilesAreWrittenReadListedAndRemoved) {
  MemoryDisk disk;
  disk.write_file("/store/b", bytes_of("two"));
  disk.write_file("/store/a", bytes_of("one"));
  disk.write_file("/store/a", bytes_of("one again"));
  EXPECT_EQ(disk.file_names("/store"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(text_in(disk, "/store/a"), "one again");
  EXPECT_EQ(*disk.file_size_bytes("/store/b"), 3U);
  EXPECT_TRUE(is_ok(disk.remove_file("/store/a")));
  EXPECT_FALSE(disk.contains("/store/a"));
  EXPECT_TRUE(fails_with(disk.remove_file("/store/a"), Code::kNotFound, "/store/a"));
  EXPECT_TRUE(fails_with(disk.read_file("/nowhere/a"), Code::kNotFound, "/nowhere/a"));
  EXPECT_EQ(disk.pending_count(), 0U);
}

TEST(MemoryDisk, BytesAreFlippedAndFilesCut) {
  MemoryDisk disk;
  disk.write_file("/store/a", bytes_of("abc"));
  ASSERT_TRUE(is_ok(disk.flip_bit("/store/a", 1, std::byte{'b' ^ 'X'})));
  EXPECT_EQ(text_in(disk, "/store/a"), "aXc");
  EXPECT_TRUE(fails_with(disk.flip_bit("/store/a", 3, std::byte{1}), Code::kInvalidArgument, "/store/a, offset 3"));
  ASSERT_TRUE(is_ok(disk.truncate("/store/a", 2)));
  EXPECT_EQ(text_in(disk, "/store/a"), "aX");
  ASSERT_TRUE(is_ok(disk.truncate("/store/a", 4)));
  EXPECT_EQ(text_in(disk, "/store/a"), std::string("aX\0\0", 4));
  EXPECT_TRUE(fails_with(disk.truncate("/store/b", 2), Code::kNotFound));
}

TEST(MemoryDisk, ChangesSurviveAPowerCutAlsoWhereTheFileWasPending) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->append(bytes_of("abc"))));
  MemoryDisk disk = machine.files().snapshot();
  ASSERT_TRUE(is_ok(disk.flip_bit("/store/a", 0, std::byte{'a' ^ 'Z'})));
  disk.settle();
  EXPECT_EQ(outcomes(disk, CrashPolicy::kRandomSectors, file_text("/store/a")), std::set<std::string>{"Zbc"});
}

TEST(MemoryDisk, ADirectoryIsCopiedAndTheCopyIsItsOwn) {
  MemoryDisk disk;
  disk.write_file("/store/a", bytes_of("one"));
  disk.write_file("/copy/old", bytes_of("goes"));
  ASSERT_TRUE(is_ok(disk.copy_directory("/store", "/copy")));
  EXPECT_EQ(disk.file_names("/copy"), std::vector<std::string>{"a"});
  ASSERT_TRUE(is_ok(disk.flip_bit("/store/a", 0, std::byte{1})));
  EXPECT_EQ(text_in(disk, "/copy/a"), "one");
  EXPECT_NE(text_in(disk, "/store/a"), "one");
  EXPECT_TRUE(fails_with(disk.copy_directory("/nowhere", "/copy"), Code::kNotFound, "/nowhere"));
}

TEST(MemoryDisk, SameContentSeesNamesBytesAndDirectories) {
  MemoryDisk disk;
  disk.write_file("/store/a", bytes_of("one"));
  MemoryDisk other = disk;
  EXPECT_TRUE(disk.same_content(other));
  ASSERT_TRUE(is_ok(other.flip_bit("/store/a", 0, std::byte{1})));
  EXPECT_FALSE(disk.same_content(other));
  ASSERT_TRUE(is_ok(other.flip_bit("/store/a", 0, std::byte{1})));
  EXPECT_TRUE(disk.same_content(other));
  other.make_directory("/other");
  EXPECT_FALSE(disk.same_content(other));
  EXPECT_FALSE(other.same_content(disk));
  other = disk;
  other.write_file("/store/b", {});
  EXPECT_FALSE(disk.same_content(other));
}

}  // namespace
}  // namespace varve::io::memory_disk_test
