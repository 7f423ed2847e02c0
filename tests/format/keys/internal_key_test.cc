// Owns: the proof that internal keys compare by key, and then by version with the newest first.
#include "format/keys/internal_key.h"

#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "format/keys/sort_key.h"
#include "tests/format/hex_text.h"
#include "tests/format/hostile_text.h"
#include "tests/format/random_values.h"

namespace varve::format::internal_key_test {
namespace {

std::string internal_key(std::string_view sort_key, CommitVersion version, Kind kind) {
  std::string key(sort_key);
  key.resize(key.size() + kInternalSuffixBytes);
  store_internal_suffix(key.data() + sort_key.size(), version, kind);
  return key;
}

TEST(InternalKey, SplitsIntoWhatItWasMadeOf) {
  for (const CommitVersion version :
       {CommitVersion{0}, CommitVersion{1}, CommitVersion{638'000'000'000'000'000}, kCommitVersionMax}) {
    for (const Kind kind : {Kind::kPut, Kind::kDelete, Kind::kMergeOperand, Kind::kPutExternal, Kind::kPutExpiring}) {
      for (const std::string_view sort_key : {std::string_view(), std::string_view("key")}) {
        const std::string key = internal_key(sort_key, version, kind);
        EXPECT_EQ(key.size(), sort_key.size() + kInternalSuffixBytes);
        const InternalKey split = split_internal_key(key);
        EXPECT_EQ(split.sort_key, sort_key);
        EXPECT_EQ(split.version, version);
        EXPECT_EQ(split.kind, kind);
      }
    }
  }
}

TEST(InternalKey, ComparesByKeyThenNewestFirst) {
  constexpr std::uint64_t kSeed = 61;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 200'000; ++step) {
    const std::string row_a = hostile_text(random);
    const std::string a = *encode_sort_key(1, "p", row_a);
    // Mostly the same key, or this key with bytes added at its end or front.
    const std::string b = *encode_sort_key(1, "p", random.one_in(2) ? row_a : neighbour_of(row_a, random));
    const CommitVersion version_a = random.number() & kCommitVersionMax;
    const CommitVersion version_b = random.one_in(2) ? version_a : random.number() & kCommitVersionMax;
    const std::string whole_a = internal_key(a, version_a, Kind::kPut);
    const std::string whole_b = internal_key(b, version_b, Kind::kPut);
    // The greater version comes first, so the tuple contains its complement.
    const bool before = std::tuple(a, ~version_a) < std::tuple(b, ~version_b);
    ASSERT_EQ(whole_a < whole_b, before) << to_hex(whole_a) << "\nagainst\n" << to_hex(whole_b);
  }
}

TEST(InternalKey, AKindFromADiskIsHandedOnUnjudged) {
  const std::string key = std::string("k") + std::string(8, '\xFF') + '\x63';
  EXPECT_EQ(static_cast<int>(split_internal_key(key).kind), 0x63);
  EXPECT_EQ(split_internal_key(std::string(8, '\0') + '\x01').version, ~CommitVersion{0});
}

}  // namespace
}  // namespace varve::format::internal_key_test
