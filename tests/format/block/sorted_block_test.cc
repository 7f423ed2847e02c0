// Owns: the tests of sorted blocks: they answer like a sorted list, and damage never causes reads outside of their
// bytes.
// Must never: compare the cursor with itself. Every expected answer comes from a std::vector.
#include "format/block/sorted_block.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/block/sorted_block_builder.h"
#include "format/block/sorted_block_check.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "tests/format/random_values.h"
#include "tests/support/allocation_counter.h"

namespace varve::format::sorted_block_test {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string build(const Pairs& pairs, std::uint32_t restart_interval, Buckets buckets, std::uint64_t base = 7) {
  SortedBlockBuilder builder(restart_interval, buckets);
  for (const auto& [key, value] : pairs) {
    const std::size_t half = value.size() / 2;
    builder.add(
        {key, std::string_view(value).substr(0, half), std::string_view(value).substr(half), content_hash(key)});
  }
  return std::string(builder.finish(base));
}

SortedBlock parse(const std::string& content) {
  const Result<SortedBlock> block = SortedBlock::parse(content);
  EXPECT_TRUE(block.ok()) << block.status().to_string();
  return *block;
}

/// Returns a key of few letters, so that keys share prefixes and repeat.
std::string random_key(RandomValues& random) {
  const std::size_t size = random.one_in(50) ? random.below(6000) : random.below(12);
  std::string key(size, 'a');
  const std::uint64_t letters = 1 + random.below(3);
  for (char& c : key) c = static_cast<char>('a' + random.below(letters));
  if (random.one_in(10)) key.push_back(static_cast<char>(0xff));
  if (random.one_in(10)) key.push_back('\0');
  return key;
}

Pairs random_pairs(RandomValues& random, std::size_t count, bool repeats) {
  Pairs pairs;
  for (std::size_t i = 0; i < count; ++i) {
    pairs.emplace_back(random_key(random), random.bytes(random.one_in(20) ? 20'000 : random.below(200)));
    while (repeats && random.one_in(2)) pairs.emplace_back(pairs.back().first, random.bytes(3));
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!repeats) pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());
  return pairs;
}

void expect_at(const SortedBlockCursor& cursor, const Pairs& pairs, std::size_t at) {
  ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
  ASSERT_EQ(cursor.valid(), at < pairs.size()) << at;
  if (at == pairs.size()) return;
  ASSERT_EQ(cursor.key(), pairs[at].first);
  ASSERT_EQ(cursor.value(), pairs[at].second);
}

std::size_t first_not_below(const Pairs& pairs, const std::string& key) {
  const auto found = std::lower_bound(pairs.begin(), pairs.end(), key,
                                      [](const auto& pair, const std::string& target) { return pair.first < target; });
  return static_cast<std::size_t>(found - pairs.begin());
}

void expect_walks(SortedBlockCursor& cursor, const Pairs& pairs) {
  std::size_t at = 0;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) expect_at(cursor, pairs, at++);
  ASSERT_EQ(at, pairs.size());
  for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) expect_at(cursor, pairs, --at);
  ASSERT_EQ(at, 0u);
  for (cursor.seek_to_first(); cursor.valid();) {
    StoredEntry ahead;
    std::size_t shared = 0;
    const bool has_other_key = cursor.look_ahead(&ahead) && cursor.step_to_other_key(ahead, &shared);
    ASSERT_EQ(has_other_key, at + 1 < pairs.size() && pairs[at + 1].first != pairs[at].first);
    if (has_other_key) {
      const std::string& before = pairs[at].first;
      const std::string& now = pairs[at + 1].first;
      const auto differs = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
      ASSERT_EQ(shared, static_cast<std::size_t>(differs.first - before.begin()));
    } else {
      expect_at(cursor, pairs, at);
      cursor.next();
    }
    expect_at(cursor, pairs, ++at);
  }
  ASSERT_EQ(at, pairs.size());
}

void expect_search(SortedBlockCursor& cursor, const Pairs& pairs, const std::string& key) {
  const std::size_t at = first_not_below(pairs, key);
  const bool there = at < pairs.size() && pairs[at].first == key;
  ASSERT_EQ(cursor.seek(key), there);
  expect_at(cursor, pairs, at);
  if (at < pairs.size()) {
    cursor.next();
    expect_at(cursor, pairs, at + 1);
  }
  if (at > 0) {
    cursor.seek(key);
    if (cursor.valid()) {
      cursor.previous();
      expect_at(cursor, pairs, at - 1);
    }
  }
  ASSERT_EQ(cursor.find(key, content_hash(key)), there);
  expect_at(cursor, pairs, there ? at : pairs.size());
}

void expect_answers_as_list(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomValues random(seed);
  const Pairs pairs = random_pairs(random, 1 + random.below(300), random.one_in(2));
  const std::uint32_t interval = static_cast<std::uint32_t>(1 + random.below(20));
  const Buckets buckets = random.one_in(3) ? Buckets::kNone : Buckets::kIfTheyPay;
  const std::string content = build(pairs, interval, buckets);
  const SortedBlock block = parse(content);
  EXPECT_EQ(block.base_version(), 7u);
  EXPECT_EQ(block.restart_count(), (pairs.size() + interval - 1) / interval);
  const Status checked = check_sorted_block(block);
  ASSERT_TRUE(checked.ok()) << checked.to_string();

  SortedBlockCursor cursor;
  cursor.open(block);
  EXPECT_FALSE(cursor.valid());
  expect_walks(cursor, pairs);
  for (std::size_t i = 0; i < 100; ++i) {
    expect_search(cursor, pairs, random.one_in(2) ? pairs[random.below(pairs.size())].first : random_key(random));
  }
}

TEST(SortedBlock, AnswersAsASortedList) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) expect_answers_as_list(seed);
}

TEST(SortedBlock, OneEntryWithoutBytesIsEnough) {
  const Pairs pairs = {{"", ""}};
  const std::string content = build(pairs, 1, Buckets::kIfTheyPay);
  EXPECT_EQ(content.size(), 3 + 4 + kSortedBlockTrailerBytes);
  SortedBlockCursor cursor;
  cursor.open(parse(content));
  expect_walks(cursor, pairs);
  expect_search(cursor, pairs, "");
  expect_search(cursor, pairs, "a");
}

TEST(SortedBlock, ACursorMaySeekItsOwnKey) {
  Pairs pairs;
  for (char c = 'a'; c <= 'z'; ++c) {
    const std::string key(500, c);
    pairs.emplace_back(key, "v");
  }
  const std::string content = build(pairs, 4, Buckets::kNone);
  SortedBlockCursor cursor;
  cursor.open(parse(content));
  cursor.seek_to_first();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_TRUE(cursor.seek(cursor.key()));
    expect_at(cursor, pairs, i);
    cursor.next();
  }
  EXPECT_FALSE(cursor.valid());
}

TEST(SortedBlock, BucketsAreLeftOutWhereTheyDoNotPay) {
  Pairs pairs;
  for (int i = 0; i < 300; ++i) pairs.emplace_back("key" + std::to_string(1000 + i), "v");
  EXPECT_EQ(parse(build(pairs, 300, Buckets::kIfTheyPay)).bucket_count(), 0) << "one interval";
  EXPECT_EQ(parse(build(pairs, 1, Buckets::kIfTheyPay)).bucket_count(), 0) << "300 intervals";
  EXPECT_EQ(parse(build(pairs, 150, Buckets::kIfTheyPay)).bucket_count(), 401);
  pairs.resize(254);
  EXPECT_EQ(parse(build(pairs, 1, Buckets::kIfTheyPay)).bucket_count(), 254 * 4 / 3 + 1);
  pairs.emplace_back("key9", "v");
  EXPECT_EQ(parse(build(pairs, 1, Buckets::kIfTheyPay)).bucket_count(), 0) << "255 intervals";
}

/// Returns the offset at which each interval begins.
std::vector<std::uint32_t> restarts_of(const SortedBlock& block) {
  std::vector<std::uint32_t> restarts;
  for (std::uint32_t i = 0; i < block.restart_count(); ++i) restarts.push_back(block.restart(i));
  return restarts;
}

TEST(SortedBlock, AnIntervalEndsWithTheEntryThatFillsItsBytes) {
  SortedBlockBuilder builder(3, Buckets::kNone, 100);
  const auto add = [&builder](std::string_view key, std::size_t value_bytes) {
    const std::string value(value_bytes, 'v');
    builder.add({key, value, {}, 0});
  };
  add("a", 96);  // 100 bytes with its three lengths and its key
  add("b", 95);
  add("c", 1);  // makes its interval larger than the limit
  add("d", 1);
  add("e", 1);
  add("f", 1);
  add("g", 200);
  const std::string content(builder.finish(7));
  EXPECT_EQ(restarts_of(parse(content)), (std::vector<std::uint32_t>{0, 100, 204, 219}));
}

TEST(SortedBlock, LargeEntriesHaveMoreBuckets) {
  const auto bucket_count = [](std::size_t value_bytes) {
    Pairs pairs;
    for (int i = 0; i < 30; ++i) pairs.emplace_back("key" + std::to_string(10 + i), std::string(value_bytes, 'v'));
    return int{parse(build(pairs, 8, Buckets::kIfTheyPay)).bucket_count()};
  };
  EXPECT_EQ(bucket_count(10), 30 * 4 / 3 + 1);
  EXPECT_GT(bucket_count(150), 30 * 4 / 3 + 1);
  EXPECT_LT(bucket_count(150), 30 * 4);
  EXPECT_EQ(bucket_count(300), 30 * 4);
  EXPECT_EQ(bucket_count(3000), 30 * 4);
}

TEST(SortedBlock, MovesAllocateNothingOnceTheKeyBufferIsLargeEnough) {
  Pairs pairs;
  for (int i = 0; i < 300; ++i) pairs.emplace_back("key" + std::to_string(1000 + i), std::string(100, 'v'));
  const std::string content = build(pairs, 16, Buckets::kIfTheyPay);
  const SortedBlock block = parse(content);
  const std::uint64_t hash = content_hash("key1234");
  const std::uint64_t before = test::allocation_count();
  SortedBlockCursor cursor;
  cursor.open(block);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) continue;
  for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) continue;
  EXPECT_TRUE(cursor.seek("key1234"));
  EXPECT_TRUE(cursor.find("key1234", hash));
  EXPECT_FALSE(cursor.find("key12345", hash + 1));
  EXPECT_EQ(test::allocation_count(), before);
}

std::string with_trailer(std::string content, std::size_t at, std::uint32_t value) {
  store_u32(content.data() + content.size() - kSortedBlockTrailerBytes + at, value);
  return content;
}

TEST(SortedBlock, HostileTrailersAreRefused) {
  const std::string good = build({{"a", "1"}, {"b", "2"}}, 1, Buckets::kIfTheyPay);
  EXPECT_EQ(parse(good).bucket_count(), 3);
  EXPECT_EQ(SortedBlock::parse("").code(), Code::kCorruption);
  EXPECT_EQ(SortedBlock::parse(std::string(kSortedBlockTrailerBytes - 1, '\0')).code(), Code::kCorruption);
  EXPECT_EQ(SortedBlock::parse(std::string(kSortedBlockTrailerBytes, '\0')).code(), Code::kCorruption);
  for (const std::uint32_t restarts : {0u, 5u, 1u << 30, 0xffffffffu}) {
    EXPECT_EQ(SortedBlock::parse(with_trailer(good, 8, restarts)).code(), Code::kCorruption) << restarts;
  }
  EXPECT_EQ(SortedBlock::parse(with_trailer(good, 12, 0x10003)).code(), Code::kCorruption) << "last two bytes";
  EXPECT_EQ(SortedBlock::parse(with_trailer(good, 12, 0xffff)).code(), Code::kCorruption) << "too many buckets";
  std::string first_restart = good;
  first_restart[good.size() - kSortedBlockTrailerBytes - 3 - 8] = 1;
  EXPECT_EQ(SortedBlock::parse(first_restart).code(), Code::kCorruption);
}

/// Moves in every way, whatever the block contains. The sanitizers and the bounds of next() detect errors.
void exercise(const std::string& content, const std::vector<std::string>& targets) {
  const Result<SortedBlock> block = SortedBlock::parse(content);
  if (!block.ok()) return;
  SortedBlockCursor cursor;
  const auto reopen = [&] {
    cursor.open(*block);
    return true;
  };
  std::size_t steps = 0;
  reopen();
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ASSERT_LE(++steps, content.size());
  reopen();
  cursor.seek_to_first();
  StoredEntry ahead;
  for (std::size_t shared = 0;
       cursor.valid() && cursor.look_ahead(&ahead) && cursor.step_to_other_key(ahead, &shared);) {
    ASSERT_LE(shared, cursor.key().size());
  }
  reopen();
  for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) ASSERT_LE(++steps, 2 * content.size());
  for (const std::string& target : targets) {
    reopen();
    if (cursor.find(target, content_hash(target))) {
      ASSERT_EQ(cursor.key(), target);
    }
    reopen();
    cursor.seek(target);
    if (cursor.valid()) cursor.previous();
    reopen();
    cursor.seek(target);
    if (cursor.valid()) cursor.next();
  }
}

TEST(SortedBlock, EveryChangedByteStaysInsideTheBlock) {
  RandomValues random(5);
  const Pairs pairs = random_pairs(random, 30, true);
  Pairs small;
  for (const auto& [key, value] : pairs) {
    if (key.size() < 100 && value.size() < 100) small.emplace_back(key, value);
  }
  std::string content = build(small, 4, Buckets::kIfTheyPay);
  const std::vector<std::string> targets = {"", small[small.size() / 2].first, "b", "zzz"};
  for (std::size_t at = 0; at < content.size(); ++at) {
    for (const int mask : {0x01, 0x80, 0x7f, 0xff}) {
      content[at] = static_cast<char>(content[at] ^ mask);
      exercise(std::string(content), targets);
      content[at] = static_cast<char>(content[at] ^ mask);
    }
    exercise(content.substr(0, at), targets);
    exercise(content.substr(at), targets);
  }
}

TEST(SortedBlock, DamageIsToldAndLasts) {
  std::string content = build({{"aa", "1"}, {"ab", "2"}, {"b", "3"}}, 16, Buckets::kNone);
  content[6] = 3;  // the second entry shares more bytes than the first one has
  SortedBlockCursor cursor;
  cursor.open(parse(content));
  cursor.seek_to_first();
  ASSERT_TRUE(cursor.valid());
  StoredEntry ahead;
  EXPECT_FALSE(cursor.look_ahead(&ahead));
  EXPECT_TRUE(cursor.valid());
  cursor.next();
  EXPECT_FALSE(cursor.valid());
  EXPECT_EQ(cursor.status().code(), Code::kCorruption);
  EXPECT_NE(cursor.status().message().find("byte 6"), std::string_view::npos) << cursor.status().to_string();
  cursor.seek_to_first();
  EXPECT_FALSE(cursor.valid());
  EXPECT_FALSE(cursor.find("b", 0));
  EXPECT_EQ(cursor.status().code(), Code::kCorruption);
  EXPECT_EQ(check_sorted_block(parse(content)).code(), Code::kCorruption);
}

TEST(SortedBlock, DeepCheckFindsWhatReadersTakeOnTrust) {
  Pairs pairs;
  for (int i = 0; i < 40; ++i) pairs.emplace_back("key" + std::to_string(100 + i), "v");
  const std::string good = build(pairs, 4, Buckets::kIfTheyPay);
  const SortedBlock block = parse(good);
  const std::size_t restarts_at = block.entries().size();
  for (std::size_t at = restarts_at; at < good.size() - kSortedBlockTrailerBytes; ++at) {
    std::string content = good;
    content[at] = static_cast<char>(content[at] ^ 1);
    const Result<SortedBlock> changed = SortedBlock::parse(content);
    if (changed.ok()) {
      EXPECT_EQ(check_sorted_block(*changed).code(), Code::kCorruption) << at;
    }
  }
  std::string fallen = good;
  fallen[3] = 'z';  // the first key
  EXPECT_EQ(check_sorted_block(parse(fallen)).code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::format::sorted_block_test
