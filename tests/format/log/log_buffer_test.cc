// Owns: the tests of slot headers of the log buffer.
// Must never: depend on the bytes after the forty bytes of a header.
#include "format/log/log_buffer.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/format/random_values.h"

namespace varve::format::log_buffer_test {
namespace {

constexpr FilePlace kPlace{0x1122334455667788, 4096};

std::string stored(const SlotHeader& header, FilePlace place) {
  std::string bytes(kSlotHeaderBytes, '\x55');
  store_slot_header(bytes.data(), header, place);
  return bytes;
}

TEST(LogBuffer, SlotHeaderRoundTrips) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const SlotHeader header{random.number(), random.number(), random.number(), random.number()};
    const FilePlace place{random.number(), random.number()};
    const Result<SlotHeader> read = load_slot_header(stored(header, place), place);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(read->segment_number, header.segment_number);
    EXPECT_EQ(read->segment_seed, header.segment_seed);
    EXPECT_EQ(read->log_offset, header.log_offset);
    EXPECT_EQ(read->serial, header.serial);
  }
}

TEST(LogBuffer, SlotNeverUsedIsNotFound) {
  EXPECT_EQ(load_slot_header(std::string(kSlotHeaderBytes, '\0'), kPlace).code(), Code::kNotFound);
}

TEST(LogBuffer, AnyFlippedBitMakesTheSlotNotFound) {
  const std::string whole = stored({7, 0x0102030405060708, 8192, 3}, kPlace);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    SCOPED_TRACE(bit);
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(load_slot_header(flipped, kPlace).code(), Code::kNotFound);
  }
}

TEST(LogBuffer, HeaderHalfReplacedByItsSuccessorIsNotFound) {
  const std::string before = stored({7, 99, 8192, 3}, kPlace);
  const std::string after = stored({7, 99, 12288, 4}, kPlace);
  for (std::size_t torn_at = 1; torn_at < kSlotHeaderBytes; ++torn_at) {
    SCOPED_TRACE(torn_at);
    const std::string torn = after.substr(0, torn_at) + before.substr(torn_at);
    if (torn == before || torn == after) continue;
    EXPECT_EQ(load_slot_header(torn, kPlace).code(), Code::kNotFound);
  }
}

TEST(LogBuffer, HeaderOfAnotherSlotOrBufferIsNotFound) {
  const std::string bytes = stored({7, 99, 8192, 3}, kPlace);
  EXPECT_EQ(load_slot_header(bytes, {kPlace.seed, kPlace.offset + 4096}).code(), Code::kNotFound);
  EXPECT_EQ(load_slot_header(bytes, {kPlace.seed + 1, kPlace.offset}).code(), Code::kNotFound);
}

}  // namespace
}  // namespace varve::format::log_buffer_test
