// Goal: memory in whole pages is zero and writable to its last byte. It is aligned for large pages, and is returned to
// the system when it is released.
// Method: pieces with sizes near a page and a large page, and the system's figures of resident memory.
#include "io/posix/page_memory.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "io/posix/large_pages.h"

namespace varve::io::page_memory_test {
namespace {

std::size_t anonymous_kilobytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssAnon:")) return std::stoul(line.substr(sizeof("RssAnon:") - 1));
  }
  return 0;
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(PageMemory, IsZeroAndCanBeWrittenToItsLastByte) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097},
                                  kLargePageBytes - 1, kLargePageBytes, kLargePageBytes + 1, 3 * kLargePageBytes}) {
    const Result<PageMemory> memory = PageMemory::map(bytes);
    ASSERT_TRUE(memory.ok()) << bytes;
    EXPECT_GE(memory->bytes().size(), bytes);
    EXPECT_LT(memory->bytes().size(), bytes + 4096);
    EXPECT_TRUE(is_zero(memory->bytes())) << bytes;
    std::memset(memory->bytes().data(), 0xa5, memory->bytes().size());
  }
}

TEST(PageMemory, OfALargePageAndMoreIsAlignedToOne) {
  for (int i = 0; i < 5; ++i) {
    const Result<PageMemory> odd = PageMemory::map(4096);  // so that the next piece gets another address
    const Result<PageMemory> memory = PageMemory::map(kLargePageBytes);
    ASSERT_TRUE(odd.ok() && memory.ok());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->bytes().data()) % kLargePageBytes, 0u);
  }
}

TEST(PageMemory, IsTheSystemsAgainWhenItIsGivenUp) {
  constexpr std::size_t kBytes = 16 * kLargePageBytes;
  const std::size_t before = anonymous_kilobytes();
  {
    const Result<PageMemory> memory = PageMemory::map(kBytes);
    ASSERT_TRUE(memory.ok());
    std::memset(memory->bytes().data(), 1, kBytes);
    EXPECT_GE(anonymous_kilobytes(), before + kBytes / 1024 / 2);
  }
  EXPECT_LT(anonymous_kilobytes(), before + kBytes / 1024 / 2);
}

TEST(PageMemory, APartIsGivenBackBeforeTheWhole) {
  constexpr std::size_t kBytes = 16 * kLargePageBytes;
  Result<PageMemory> memory = PageMemory::map(kBytes);
  ASSERT_TRUE(memory.ok());
  std::memset(memory->bytes().data(), 1, kBytes);
  const std::size_t before = anonymous_kilobytes();
  memory->give_back(kBytes / 4, kBytes / 2);
  EXPECT_LT(anonymous_kilobytes(), before - kBytes / 1024 / 4);
  EXPECT_EQ(memory->bytes()[kBytes / 4 - 1], std::byte{1});
  EXPECT_TRUE(is_zero(memory->bytes().subspan(kBytes / 4, kBytes / 2)));
  EXPECT_EQ(memory->bytes()[kBytes / 4 * 3], std::byte{1});
}

TEST(PageMemory, MovesWithItsBytes) {
  Result<PageMemory> made = PageMemory::map(8192);
  ASSERT_TRUE(made.ok());
  made->bytes()[8191] = std::byte{7};
  PageMemory moved = *std::move(made);
  EXPECT_EQ(moved.bytes()[8191], std::byte{7});
  PageMemory assigned;
  EXPECT_TRUE(assigned.bytes().empty());
  assigned = std::move(moved);
  EXPECT_EQ(assigned.bytes()[8191], std::byte{7});
}

TEST(PageMemory, ThatNoSystemHasIsRefused) {
  EXPECT_EQ(PageMemory::map(std::numeric_limits<std::size_t>::max()).code(), Code::kOutOfMemory);
  EXPECT_EQ(PageMemory::map(std::size_t{1} << 60).code(), Code::kOutOfMemory);
}

}  // namespace
}  // namespace varve::io::page_memory_test
