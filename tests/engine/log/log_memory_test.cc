// Goal: no byte of an earlier record follows a later record to the device, whatever their sizes.
#include "engine/log/log_memory.h"

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace varve::engine::log_memory_test {
namespace {

constexpr std::size_t kMemoryBytes = 4 * io::kSectorBytes;

LogMemory zeroed_memory() {
  return LogMemory(*io::AlignedBuffer::allocate(kMemoryBytes));
}

/// Stores a record and returns the sectors that would be written.
std::string sectors_of(LogMemory& memory, const std::string& record) {
  std::copy(record.begin(), record.end(), memory.begin());
  const std::span<const std::byte> sectors = memory.end_at(record.size());
  return {reinterpret_cast<const char*>(sectors.data()), sectors.size()};
}

std::string padded(std::string record) {
  record.resize(io::round_up_to_sector(record.size()), '\0');
  return record;
}

TEST(LogMemory, ARecordIsFollowedByZerosToTheEndOfItsSector) {
  LogMemory memory = zeroed_memory();
  EXPECT_EQ(sectors_of(memory, "record"), padded("record"));
  const std::string whole(io::kSectorBytes, 'w');
  EXPECT_EQ(sectors_of(memory, whole), whole);
}

TEST(LogMemory, AShorterRecordErasesTheRestOfALongerOne) {
  LogMemory memory = zeroed_memory();
  (void)sectors_of(memory, std::string(3000, 'a'));
  EXPECT_EQ(sectors_of(memory, "short"), padded("short"));
  EXPECT_EQ(sectors_of(memory, std::string(700, 'b')), padded(std::string(700, 'b')));
}

TEST(LogMemory, BytesInLaterSectorsAreErasedOnceARecordReachesTheirSector) {
  LogMemory memory = zeroed_memory();
  (void)sectors_of(memory, std::string(kMemoryBytes, 'a'));
  EXPECT_EQ(sectors_of(memory, "short"), padded("short"));
  const std::string two_sectors(io::kSectorBytes + 1, 'b');
  EXPECT_EQ(sectors_of(memory, two_sectors), padded(two_sectors));
  const std::string four_sectors(3 * io::kSectorBytes + 1, 'c');
  EXPECT_EQ(sectors_of(memory, four_sectors), padded(four_sectors));
}

TEST(LogMemory, NoRowOfSizesLetsAnEarlierByteThrough) {
  constexpr std::uint32_t kSeed = 20261129;
  std::mt19937 random(kSeed);
  LogMemory memory = zeroed_memory();
  for (int round = 0; round < 2000; ++round) {
    const std::size_t limit = round % 3 == 0 ? kMemoryBytes : 500;
    const std::string record(1 + random() % limit, static_cast<char>('a' + round % 26));
    ASSERT_EQ(sectors_of(memory, record), padded(record)) << "seed " << kSeed << ", round " << round;
  }
}

TEST(LogMemory, MovedMemoryStillKnowsItsStoredBytes) {
  LogMemory memory = zeroed_memory();
  (void)sectors_of(memory, std::string(3000, 'a'));
  LogMemory moved = std::move(memory);
  EXPECT_EQ(moved.size_bytes(), kMemoryBytes);
  EXPECT_EQ(sectors_of(moved, "short"), padded("short"));
}

}  // namespace
}  // namespace varve::engine::log_memory_test
