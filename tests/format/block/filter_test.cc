// Owns: the proof that filters never deny their keys, seldom affirm other keys, and survive hostile content.
#include "format/block/filter.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "tests/format/hex_text.h"

namespace varve::format::filter_test {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kBlockedBloom, FilterKind::kBinaryFuse};

/// Returns the hashes of `count` keys. Different seeds give different keys.
std::vector<std::uint64_t> hashes_of(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < count; ++i) {
    std::string key;
    append_u64(key, seed);
    append_u64(key, i);
    hashes.push_back(content_hash(key));
  }
  return hashes;
}

std::string built(FilterKind kind, const std::vector<std::uint64_t>& hashes, double bits_per_key = 10) {
  Result<std::string> content = build_filter(kind, hashes, bits_per_key);
  EXPECT_TRUE(content.ok()) << content.status().to_string();
  return content.ok() ? *std::move(content) : std::string();
}

std::size_t denied(const FilterView& filter, const std::vector<std::uint64_t>& hashes) {
  std::size_t count = 0;
  for (const std::uint64_t hash : hashes) count += filter.may_contain(hash) ? 0U : 1U;
  return count;
}

/// Returns the share of 200,000 absent keys that passes, in percent.
double passed_percent(FilterKind kind, std::size_t count, double bits_per_key) {
  const std::string content = built(kind, hashes_of(count, 1), bits_per_key);
  const Result<FilterView> filter = FilterView::parse(content);
  EXPECT_TRUE(filter.ok());
  constexpr std::size_t kAbsent = 200'000;
  return 100 - 100.0 * static_cast<double>(denied(*filter, hashes_of(kAbsent, 2))) / kAbsent;
}

class FilterOfKind : public testing::TestWithParam<FilterKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, FilterOfKind, testing::ValuesIn(kKinds));

TEST_P(FilterOfKind, NeverDeniesAKeyItWasBuiltFrom) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size <= 300; ++size) sizes.push_back(size);
  for (std::size_t size = 301; size <= 100'000; size += size / 6) sizes.push_back(size);
  sizes.push_back(100'000);
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    const std::vector<std::uint64_t> hashes = hashes_of(size, size);
    const std::string content = built(GetParam(), hashes);
    const Result<FilterView> filter = FilterView::parse(content);
    ASSERT_TRUE(filter.ok()) << filter.status().to_string();
    ASSERT_EQ(denied(*filter, hashes), 0U);
  }
}

TEST_P(FilterOfKind, OfNoKeysDeniesAll) {
  const std::string content = built(GetParam(), {});
  const Result<FilterView> filter = FilterView::parse(content);
  ASSERT_TRUE(filter.ok()) << filter.status().to_string();
  EXPECT_EQ(denied(*filter, hashes_of(1000, 3)), 1000U);
  EXPECT_LE(content.size(), 16U);
}

TEST_P(FilterOfKind, HoldsHashesThatAreNotMixed) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 3000; ++i) hashes.push_back(i);
  for (std::uint64_t i = 0; i < 3000; ++i) hashes.push_back(i << 40);
  hashes.push_back(std::numeric_limits<std::uint64_t>::max());
  const std::string content = built(GetParam(), hashes);
  EXPECT_EQ(denied(*FilterView::parse(content), hashes), 0U);
}

TEST_P(FilterOfKind, IsTheSameBytesForTheSameHashes) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 1000U, 20'000U}) {
    SCOPED_TRACE(size);
    EXPECT_EQ(built(GetParam(), hashes_of(size, 4)), built(GetParam(), hashes_of(size, 4)));
  }
}

TEST_P(FilterOfKind, RepeatedHashesTakeNoRoom) {
  const std::vector<std::uint64_t> once = hashes_of(500, 5);
  std::vector<std::uint64_t> often;
  for (const std::uint64_t hash : once) often.insert(often.end(), 7, hash);
  EXPECT_EQ(built(GetParam(), often), built(GetParam(), once));
}

TEST(Filter, BinaryFuseDoesNotMindWhereARepeatedHashStands) {
  const std::vector<std::uint64_t> once = hashes_of(500, 6);
  std::vector<std::uint64_t> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(built(FilterKind::kBinaryFuse, twice), built(FilterKind::kBinaryFuse, once));
}

TEST(Filter, BinaryFuseDoesNotMindTheOrderOfTheHashes) {
  std::vector<std::uint64_t> alike;  // Their first bits are equal.
  for (std::uint64_t number = 0; number < 500; ++number) alike.push_back(number * number);
  std::vector<std::uint64_t> some_alike = hashes_of(500, 12);
  some_alike.insert(some_alike.begin() + 250, alike.begin(), alike.end());
  for (const std::vector<std::uint64_t>& hashes : {hashes_of(500, 11), alike, some_alike}) {
    std::vector<std::uint64_t> shuffled = hashes;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(1));
    EXPECT_EQ(built(FilterKind::kBinaryFuse, shuffled), built(FilterKind::kBinaryFuse, hashes));
  }
}

TEST(Filter, FewAbsentKeysPass) {
  for (const std::size_t size : {1U, 10U, 100U, 4'000U, 100'000U}) {
    SCOPED_TRACE(size);
    EXPECT_LT(passed_percent(FilterKind::kBlockedBloom, size, 10), 1.5);
    EXPECT_LT(passed_percent(FilterKind::kBinaryFuse, size, 0), 0.5);
  }
}

TEST(Filter, MoreBitsLetFewerAbsentKeysPass) {
  double before = 100;
  for (const double bits : {2, 4, 8, 12, 16, 20}) {
    SCOPED_TRACE(bits);
    const double now = passed_percent(FilterKind::kBlockedBloom, 20'000, bits);
    EXPECT_LT(now, before);
    before = now;
  }
  EXPECT_LT(before, 0.1);
}

TEST(Filter, SizeIsWhatWasAskedFor) {
  EXPECT_EQ(built(FilterKind::kBlockedBloom, hashes_of(5120, 7), 10).size(), 6U + 100 * 64);
  EXPECT_LT(built(FilterKind::kBinaryFuse, hashes_of(100'000, 7)).size() * 8, 9.6 * 100'000);
  EXPECT_LT(built(FilterKind::kBinaryFuse, hashes_of(4'000, 7)).size() * 8, 11.5 * 4'000);
}

TEST(Filter, RefusesWhatItCannotBuild) {
  const std::vector<std::uint64_t> one = {1};
  for (const double bits :
       {0.0, 0.99, -1.0, 32.5, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    SCOPED_TRACE(bits);
    EXPECT_EQ(build_filter(FilterKind::kBlockedBloom, one, bits).code(), Code::kInvalidArgument);
    EXPECT_TRUE(build_filter(FilterKind::kBinaryFuse, one, bits).ok());
  }
  EXPECT_TRUE(build_filter(FilterKind::kBlockedBloom, one, kBloomBitsPerKeyMin).ok());
  EXPECT_TRUE(build_filter(FilterKind::kBlockedBloom, one, kBloomBitsPerKeyMax).ok());
  EXPECT_EQ(build_filter(static_cast<FilterKind>(3), one, 10).code(), Code::kInvalidArgument);
  // The limit is checked before any hash is read.
  const std::span<const std::uint64_t> too_many(one.data(), kFilterHashesMax + 1);
  for (const FilterKind kind : kKinds) EXPECT_EQ(build_filter(kind, too_many, 10).code(), Code::kTooLarge);
}

TEST(Filter, UnknownKindIsUnsupported) {
  std::string content = built(FilterKind::kBinaryFuse, hashes_of(10, 8));
  for (int kind = 0; kind < 256; ++kind) {
    if (kind == 1 || kind == 2) continue;
    content[0] = static_cast<char>(kind);
    EXPECT_EQ(FilterView::parse(content).code(), Code::kUnsupported) << kind;
  }
}

TEST_P(FilterOfKind, EveryTruncationAndEveryExtensionIsCorruption) {
  for (const std::size_t size : {0U, 1U, 200U}) {
    const std::string whole = built(GetParam(), hashes_of(size, 9));
    for (std::size_t kept = 0; kept < whole.size(); ++kept) {
      // A separate copy, so that a read after its end is detected.
      const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept));
      ASSERT_EQ(FilterView::parse({part.data(), part.size()}).code(), Code::kCorruption) << kept;
    }
    for (const std::size_t extra : {1U, 63U, 64U, 128U}) {
      ASSERT_EQ(FilterView::parse(whole + std::string(extra, '\0')).code(), Code::kCorruption) << extra;
    }
  }
}

TEST_P(FilterOfKind, EveryFlippedBitIsRefusedOrReadInBounds) {
  const std::vector<std::uint64_t> hashes = hashes_of(200, 10);
  const std::string whole = built(GetParam(), hashes);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<char> flipped(whole.begin(), whole.end());
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const Result<FilterView> filter = FilterView::parse({flipped.data(), flipped.size()});
    if (filter.ok()) {
      EXPECT_LE(denied(*filter, hashes), hashes.size());
    } else {
      EXPECT_TRUE(filter.code() == Code::kCorruption || filter.code() == Code::kUnsupported);
    }
  }
}

TEST(Filter, HostileHeadersAreCorruption) {
  for (const char* hex : {
           "01 00 00 00 00 00",                          // no probes
           "01 0f 00 00 00 00",                          // fifteen of them
           "01 06 ff ff ff ff",                          // 256 GiB of blocks
           "02 02 02 00 00 00 00 00 00 00 00 00 00 00",  // an even multiplier
           "02 13 01 00 00 00 00 00 00 00 00 00 00 00",  // segments of 2^19
           "02 12 01 00 00 00 00 00 00 00 ff ff ff ff",  // 2^50 fingerprints
           "02 00 01 00 00 00 00 00 00 00 fe ff ff ff",  // starts that wrap to no fingerprint at all
       }) {
    SCOPED_TRACE(hex);
    EXPECT_EQ(FilterView::parse(from_hex(hex)).code(), Code::kCorruption);
  }
}

// Never regenerate these: filters on disk are read by exactly this arithmetic.
constexpr std::string_view kGoldenBloom = R"(01 06 01 00 00 00 01 00 00 08 00 08 20 00 00 00
30 00 10 00 80 00 80 04 00 00 80 00 00 10 00 20
00 00 09 00 09 00 00 04 0a 00 20 02 00 00 20 00
01 40 00 00 40 00 00 00 08 00 00 08 00 00 00 10
00 00 00 80 00 00)";
constexpr std::string_view kGoldenFuse = R"(02 03 15 7c 4a 7f b9 79 37 9e 01 00 00 00 00 00
11 00 00 06 0a 00 00 00 00 00 00 00 00 ad 00 00
00 11 00 00 00 00)";

TEST(Filter, GoldenBytes) {
  std::vector<std::uint64_t> hashes;  // pear and cherry first get equal places, so the second multiplier is used
  for (const std::string_view key : {"apple", "pear", "plum", "fig", "cherry"}) hashes.push_back(content_hash(key));
  EXPECT_EQ(to_hex(built(FilterKind::kBlockedBloom, hashes)), kGoldenBloom);
  EXPECT_EQ(to_hex(built(FilterKind::kBinaryFuse, hashes)), kGoldenFuse);
  for (const std::string_view golden : {kGoldenBloom, kGoldenFuse}) {
    const std::string content = from_hex(golden);
    const Result<FilterView> filter = FilterView::parse(content);
    ASSERT_TRUE(filter.ok());
    EXPECT_EQ(denied(*filter, hashes), 0U);
    EXPECT_FALSE(filter->may_contain(content_hash("quince")));
  }
}

/// Follows the lookup in FORMAT.md step by step, beside the code that does it.
TEST(Filter, LargeFiltersAreWhatTheDocumentSays) {
  const std::vector<std::uint64_t> hashes = hashes_of(5000, 11);
  const std::string bloom = built(FilterKind::kBlockedBloom, hashes, 16);
  const std::uint64_t blocks = load_u32(bloom.data() + 2);
  const int probes = bloom[1];
  ASSERT_GT(probes, 7) << "bits come from two words";
  const std::string fuse = built(FilterKind::kBinaryFuse, hashes);
  const std::uint64_t length = std::uint64_t{1} << fuse[1];
  const std::uint64_t multiplier = load_u64(fuse.data() + 2);
  const std::uint64_t starts = load_u32(fuse.data() + 10);
  for (const std::uint64_t hash : hashes) {
    const std::uint64_t block = (hash >> 32) * blocks >> 32;
    std::uint64_t word = hash * 0x9E3779B97F4A7C15;
    for (int probe = 0; probe < probes; ++probe) {
      if (probe == 7) word = (word ^ word >> 32) * 0x9E3779B97F4A7C15;
      const std::uint64_t bit = word >> 9 * (probe % 7) & 511;
      ASSERT_TRUE(bloom[6 + 64 * block + bit / 8] >> bit % 8 & 1);
    }
    const std::uint64_t m = hash * multiplier;
    const std::uint64_t g = m ^ m >> 32;
    const std::uint64_t p = (g >> 32) * (starts * length) >> 32;
    const int value =
        fuse[14 + p] ^ fuse[14 + ((p + length) ^ (g >> 18) % length)] ^ fuse[14 + ((p + 2 * length) ^ g % length)];
    ASSERT_EQ(value & 0xFF, static_cast<int>(m & 0xFF));
  }
}

}  // namespace
}  // namespace varve::format::filter_test
