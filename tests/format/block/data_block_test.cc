// Owns: the tests of data blocks: versions and kinds, and the version that a reader receives.
// Must never: compare the cursor with itself. Every expected answer comes from a std::vector.
#include "format/block/data_block.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "tests/format/block/entry_sample.h"
#include "tests/format/random_values.h"

namespace varve::format::data_block_test {
namespace {

std::string build(const std::vector<OwnedEntry>& entries) {
  DataBlockBuilder builder;
  for (const OwnedEntry& entry : entries) builder.add(entry.view(), content_hash(entry.key));
  EXPECT_EQ(builder.entry_count(), entries.size());
  return std::string(builder.finish());
}

/// Returns the index of the first entry at or after (key, newest).
std::size_t first_at(const std::vector<OwnedEntry>& entries, const std::string& key, CommitVersion newest) {
  const OwnedEntry target{key, newest, Kind::kPut, ""};
  return static_cast<std::size_t>(std::lower_bound(entries.begin(), entries.end(), target, before) - entries.begin());
}

void expect_search(DataBlockCursor& cursor, const std::vector<OwnedEntry>& entries, const std::string& key,
                   CommitVersion newest) {
  const std::size_t at = first_at(entries, key, newest);
  cursor.seek(key, newest);
  ASSERT_EQ(cursor.valid(), at < entries.size());
  if (cursor.valid()) {
    ASSERT_EQ(owned(cursor.entry()), entries[at]);
  }

  const bool found = at < entries.size() && entries[at].key == key;
  const bool block_ends = at == entries.size() && entries.back().key == key;
  const FindOutcome outcome = cursor.find(key, content_hash(key), newest);
  ASSERT_EQ(outcome, found ? FindOutcome::kFound : block_ends ? FindOutcome::kContinues : FindOutcome::kAbsent);
  ASSERT_EQ(cursor.valid(), found);
  if (found) {
    ASSERT_EQ(owned(cursor.entry()), entries[at]);
  }
}

TEST(DataBlock, AnswersAsASortedListOfVersions) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomValues random(seed);
    EntryShape shape;
    shape.count = 1 + random.below(120);
    shape.version_chains = 10;
    shape.long_keys = 30;
    const std::vector<OwnedEntry> entries = random_entries(seed, shape);
    const std::string content = build(entries);
    DataBlockCursor cursor;
    ASSERT_TRUE(cursor.open(content).ok());
    std::size_t at = 0;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ASSERT_EQ(owned(cursor.entry()), entries[at++]);
    ASSERT_EQ(at, entries.size());
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) ASSERT_EQ(owned(cursor.entry()), entries[--at]);
    ASSERT_EQ(at, 0u);
    for (cursor.seek_to_first(); cursor.valid(); ++at) {
      ASSERT_EQ(owned(cursor.entry()), entries[at]);
      std::size_t shared = 0;
      const bool has_other_key = cursor.step_to_other_key(&shared);
      ASSERT_EQ(has_other_key, at + 1 < entries.size() && entries[at + 1].key != entries[at].key);
      if (has_other_key) continue;
      ASSERT_EQ(owned(cursor.entry()), entries[at]);
      cursor.next();
    }
    ASSERT_EQ(at, entries.size());
    for (int i = 0; i < 200; ++i) {
      const OwnedEntry& entry = entries[random.below(entries.size())];
      const std::string key = random.one_in(3) ? entry.key + "x" : entry.key;
      expect_search(cursor, entries, key, entry.version - 1 + random.below(3));
      expect_search(cursor, entries, key, random.one_in(2) ? 0 : kCommitVersionMax);
    }
    EXPECT_TRUE(cursor.status().ok());
  }
}

TEST(DataBlock, VersionsOfEveryDistanceReadBack) {
  const std::vector<OwnedEntry> entries = {{sample_key(1, 1, 1), kCommitVersionMax, Kind::kPut, "newest"},
                                           {sample_key(1, 1, 1), 128, Kind::kDelete, ""},
                                           {sample_key(1, 1, 1), 127, Kind::kPut, ""},
                                           {sample_key(1, 1, 1), 0, Kind::kPut, "oldest"}};
  const std::string content = build(entries);
  DataBlockCursor cursor;
  ASSERT_TRUE(cursor.open(content).ok());
  EXPECT_EQ(cursor.base_version(), 0u);
  std::size_t at = 0;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) EXPECT_EQ(owned(cursor.entry()), entries[at++]);
  EXPECT_EQ(at, entries.size());
}

TEST(DataBlock, EstimateIsNear) {
  EntryShape shape;
  shape.count = 200;
  DataBlockBuilder builder;
  for (const OwnedEntry& entry : random_entries(9, shape)) builder.add(entry.view(), content_hash(entry.key));
  const std::size_t estimated = builder.estimated_bytes();
  const std::size_t real = builder.finish().size();
  EXPECT_GT(estimated * 10, real * 9);
  EXPECT_LT(estimated * 9, real * 10);
}

TEST(DataBlock, ABuilderIsUsedAgain) {
  DataBlockBuilder builder;
  const OwnedEntry a{sample_key(2, 1, 1), 50, Kind::kPut, "a"};
  const OwnedEntry b{sample_key(1, 1, 1), 40, Kind::kPut, "b"};
  builder.add(a.view(), content_hash(a.key));
  const std::string first(builder.finish());
  builder.clear();
  EXPECT_TRUE(builder.empty());
  builder.add(b.view(), content_hash(b.key));
  EXPECT_EQ(builder.smallest_version(), 40u);
  EXPECT_EQ(builder.largest_version(), 40u);
  EXPECT_EQ(std::string(builder.finish()), build({b}));
  EXPECT_EQ(first, build({a}));
}

/// Returns a block of two entries. The value of the second, including version and kind, is `value`.
std::string block_with(std::string_view value, std::uint64_t base) {
  using namespace std::string_literals;
  SortedBlockBuilder builder(16, Buckets::kNone);
  builder.add({"kex", "\0\1"s, {}});
  builder.add({"key", value, {}});
  return std::string(builder.finish(base));
}

Code second_entry_code(const std::string& content) {
  DataBlockCursor cursor;
  if (Status opened = cursor.open(content); !opened.ok()) return opened.code();
  cursor.seek_to_first();
  EXPECT_TRUE(cursor.valid());
  std::size_t shared = 0;
  const bool has_stepped = cursor.step_to_other_key(&shared);
  EXPECT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.key(), has_stepped ? "key" : "kex");
  EXPECT_TRUE(cursor.status().ok());
  cursor.seek_to_first();
  cursor.next();
  EXPECT_EQ(cursor.valid(), has_stepped);
  const Code walked = cursor.status().code();
  EXPECT_EQ(cursor.valid(), walked == Code::kOk);
  EXPECT_TRUE(cursor.open(content).ok());
  const FindOutcome found = cursor.find("key", content_hash("key"), kCommitVersionMax);
  EXPECT_EQ(found, walked == Code::kOk ? FindOutcome::kFound : FindOutcome::kDamaged);
  EXPECT_EQ(cursor.status().code(), walked);
  return walked;
}

TEST(DataBlock, HostileEntriesAreRefused) {
  using namespace std::string_literals;
  EXPECT_EQ(second_entry_code(block_with("\0\1value"s, 5)), Code::kOk);
  EXPECT_EQ(second_entry_code(block_with(""s, 5)), Code::kCorruption);
  EXPECT_EQ(second_entry_code(block_with("\0"s, 5)), Code::kCorruption) << "no kind";
  EXPECT_EQ(second_entry_code(block_with("\x80\0\1"s, 5)), Code::kCorruption) << "a long varint";
  EXPECT_EQ(second_entry_code(block_with("\0\2value"s, 5)), Code::kCorruption) << "a delete with a value";
  EXPECT_EQ(second_entry_code(block_with("\0\2"s, 5)), Code::kOk);
  EXPECT_EQ(second_entry_code(block_with("\0\4pointer"s, 5)), Code::kOk) << "whoever follows it judges the pointer";
  const std::string end("\7\0\0\0\0\0\0\0", 8);
  const std::string late("\0\0\0\0\0\0\0\x40", 8);  // 2^62
  for (const char kind : {'\5', '\6'}) {
    SCOPED_TRACE(int{kind});
    EXPECT_EQ(second_entry_code(block_with("\0"s + kind + end, 5)), Code::kOk);
    EXPECT_EQ(second_entry_code(block_with("\0"s + kind + end + "value", 5)), Code::kOk);
    EXPECT_EQ(second_entry_code(block_with("\0"s + kind, 5)), Code::kCorruption) << "no end";
    EXPECT_EQ(second_entry_code(block_with("\0"s + kind + end.substr(1), 5)), Code::kCorruption) << "half an end";
    EXPECT_EQ(second_entry_code(block_with("\0"s + kind + std::string(8, '\0'), 5)), Code::kCorruption) << "zero";
    EXPECT_EQ(second_entry_code(block_with("\0"s + kind + late, 5)), Code::kCorruption) << "above every time";
  }
  for (const char kind : {'\0', '\3', '\x7', '\x40', '\x41', '\x7f', '\xff'}) {
    EXPECT_EQ(second_entry_code(block_with("\0"s + kind, 5)), Code::kUnsupported) << int{kind};
  }
  EXPECT_EQ(second_entry_code(block_with("\0\1"s, kCommitVersionMax)), Code::kOk);
  EXPECT_EQ(second_entry_code(block_with("\1\1"s, kCommitVersionMax)), Code::kCorruption) << "above every version";
  EXPECT_EQ(second_entry_code(block_with("\0\1"s, kCommitVersionMax + 1)), Code::kCorruption);
}

}  // namespace
}  // namespace varve::format::data_block_test
