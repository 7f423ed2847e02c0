#include "io/aligned_buffer.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

// A failed allocation must return null under the sanitizers too. By default they would end the program.
extern "C" __attribute__((weak)) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" __attribute__((weak)) const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace varve::io::aligned_buffer_test {
namespace {

TEST(AlignedBuffer, IsAlignedWholeAndZero) {
  for (const std::size_t bytes : {kSectorBytes, 3 * kSectorBytes, 256 * kSectorBytes}) {
    Result<AlignedBuffer> buffer = AlignedBuffer::allocate(bytes);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(buffer->size_bytes(), bytes);
    EXPECT_EQ(buffer->bytes().size(), bytes);
    EXPECT_TRUE(is_sector_aligned(buffer->bytes().data()));
    const auto content = buffer->bytes();
    EXPECT_TRUE(std::all_of(content.begin(), content.end(), [](std::byte byte) { return byte == std::byte{0}; }));
    // The next buffer of this size may get the same memory.
    std::fill(content.begin(), content.end(), std::byte{0xFF});
  }
}

TEST(AlignedBuffer, MemoryThatCannotBeHadIsAStatus) {
  const volatile std::size_t impossible = SIZE_MAX / 2 + 1;
  EXPECT_EQ(AlignedBuffer::allocate(impossible).code(), Code::kOutOfMemory);
}

TEST(AlignedBuffer, MovingLeavesAnEmptyOneBehind) {
  Result<AlignedBuffer> made = AlignedBuffer::allocate(kSectorBytes);
  ASSERT_TRUE(made.ok());
  AlignedBuffer first = *std::move(made);
  const std::byte* memory = first.bytes().data();
  AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.bytes().data(), memory);
  EXPECT_EQ(first.size_bytes(), 0U);
  EXPECT_TRUE(first.bytes().empty());
  AlignedBuffer third;
  EXPECT_TRUE(third.bytes().empty());
  third = std::move(second);
  EXPECT_EQ(third.bytes().data(), memory);
  EXPECT_EQ(third.size_bytes(), kSectorBytes);
}

TEST(AlignedBuffer, RoundingKeepsMultiplesAndMovesTheRest) {
  EXPECT_EQ(round_up_to_sector(0), 0U);
  EXPECT_EQ(round_up_to_sector(1), kSectorBytes);
  EXPECT_EQ(round_up_to_sector(kSectorBytes), kSectorBytes);
  EXPECT_EQ(round_up_to_sector(kSectorBytes + 1), 2 * kSectorBytes);
  EXPECT_EQ(round_down_to_sector(kSectorBytes - 1), 0U);
  EXPECT_EQ(round_down_to_sector(kSectorBytes), kSectorBytes);
  EXPECT_TRUE(is_sector_multiple(0));
  EXPECT_FALSE(is_sector_multiple(512));
}

}  // namespace
}  // namespace varve::io::aligned_buffer_test
