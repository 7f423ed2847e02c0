// Owns: the tests of WARM.
// Must never: leave out a byte of WARM.
#include "format/log/warm_list.h"

#include <string>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/tagged_fields.h"
#include "format/log/file_header.h"
#include "tests/format/random_values.h"

namespace varve::format::warm_list_test {
namespace {

constexpr std::uint64_t kSeed = 0xc0ffee00c0ffee00;

WarmList sample() {
  return {{{Heat::kProven, 12, 0x0102030405060708, {64, 4'096, 1'000'000}}, {Heat::kRecent, 13, 1, {65}}}, {}};
}

/// Returns WARM with the given fields and a correct checksum.
std::string list_of_fields(std::string_view fields) {
  std::string bytes = encode_file_header({FileType::kWarmList, kFormatVersion, kSeed, 0});
  bytes.append(fields);
  append_u64(bytes, checksum_at({kSeed, kFileHeaderBytes}, fields));
  return bytes;
}

std::string field_of(std::initializer_list<std::uint64_t> numbers) {
  std::string value;
  for (const std::uint64_t number : numbers) append_varint(value, number);
  std::string fields;
  append_field(fields, 1, value);
  return fields;
}

TEST(WarmList, HasOneEncoding) {
  std::string expected = encode_file_header({FileType::kWarmList, kFormatVersion, kSeed, 0});
  expected.append(field_of({1, 12, 0x0102030405060708, 3, 64, 4'032, 995'904}));
  expected.append(field_of({2, 13, 1, 1, 65}));
  append_u64(expected, checksum_at({kSeed, kFileHeaderBytes}, std::string_view(expected).substr(kFileHeaderBytes)));
  EXPECT_EQ(encode_warm_list(sample(), kSeed), expected);
}

TEST(WarmList, RandomListsRoundTrip) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    WarmList list;
    for (const Heat heat : {Heat::kProven, Heat::kRecent}) {
      for (std::uint64_t files = random.below(4); files > 0; --files) {
        WarmBlocks blocks{heat, random.number(), random.number(), {}};
        std::uint64_t offset = 0;
        for (std::uint64_t count = 1 + random.below(50); count > 0; --count) {
          blocks.offsets.push_back(offset += 1 + (random.number() >> 8));
        }
        list.files.push_back(std::move(blocks));
      }
    }
    if (random.one_in(3)) append_field(list.unknown_fields, 2, random.bytes(random.below(9)));
    const std::string bytes = encode_warm_list(list, seed);
    const Result<WarmList> read = decode_warm_list(bytes);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, list);
    EXPECT_EQ(encode_warm_list(*read, seed), bytes);
  }
}

TEST(WarmList, AnyFlippedBitAndAnyCutIsCorruption) {
  const std::string whole = encode_warm_list(sample(), kSeed);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    SCOPED_TRACE(bit);
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(decode_warm_list(flipped).code(), Code::kCorruption);
  }
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    SCOPED_TRACE(bytes);
    EXPECT_EQ(decode_warm_list(whole.substr(0, bytes)).code(), Code::kCorruption);
  }
  EXPECT_EQ(decode_warm_list(whole + '\0').code(), Code::kCorruption);
}

TEST(WarmList, FieldsThatBreakARuleAreCorruption) {
  const std::string first = field_of({1, 12, 7, 1, 64});
  for (const std::string& fields :
       {field_of({0, 12, 7, 1, 64}), field_of({3, 12, 7, 1, 64}), field_of({1, 12, 7, 0}), field_of({1, 12, 7}),
        field_of({1, 12, 7, 2, 64}), field_of({1, 12, 7, 1, 64, 1}), field_of({1, 12, 7, 1, 0}),
        field_of({1, 12, 7, 2, 64, 0}), field_of({1, 12, 7, 2, UINT64_MAX, 1}), field_of({1, 12, 7, 1u << 30, 64}),
        field_of({2, 12, 7, 1, 64}) + first}) {
    EXPECT_EQ(decode_warm_list(list_of_fields(fields)).code(), Code::kCorruption);
  }
  EXPECT_TRUE(decode_warm_list(list_of_fields(first + first)).ok());
}

TEST(WarmList, AFieldOfALaterBuildIsKeptIfEvenAndRefusedIfOdd) {
  std::string even;
  append_field(even, 2, "later");
  const Result<WarmList> read = decode_warm_list(list_of_fields(even));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->unknown_fields, even);
  std::string odd;
  append_field(odd, 3, "later");
  EXPECT_EQ(decode_warm_list(list_of_fields(odd)).code(), Code::kUnsupported);
}

TEST(WarmList, LeavesOutTheLastBlocksBeyondItsBound) {
  WarmList list;
  for (std::uint64_t file = 1; file <= 40; ++file) {
    WarmBlocks blocks{Heat::kProven, file, file, {}};
    for (std::uint64_t i = 1; i <= 50'000; ++i) blocks.offsets.push_back(i * 20'000);
    list.files.push_back(std::move(blocks));
  }
  const std::string bytes = encode_warm_list(list, kSeed);
  EXPECT_LE(bytes.size(), kWarmListBytesMax);
  EXPECT_GT(bytes.size(), kWarmListBytesMax - 100);
  const Result<WarmList> read = decode_warm_list(bytes);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  ASSERT_GT(read->files.size(), 10u);
  ASSERT_LT(read->files.size(), 40u);
  for (std::size_t i = 0; i + 1 < read->files.size(); ++i) EXPECT_EQ(read->files[i], list.files[i]);
}

}  // namespace
}  // namespace varve::format::warm_list_test
