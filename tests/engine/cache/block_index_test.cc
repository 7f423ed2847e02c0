// Owns: the promises of the index (engine/cache/block_index.h), also when its buckets overflow.

#include "engine/cache/block_index.h"

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/engine/cache/cache_fill.h"

namespace varve::engine::block_index_test {
namespace {

/// Nodes by name. The index owns none.
class Nodes {
 public:
  ~Nodes() {
    for (const auto& [key, node] : nodes_) memory_.free(*node);
  }
  BlockNode& operator[](BlockKey key) { return sized(key, 0); }
  /// Returns a node that has this size if it is new.
  BlockNode& sized(BlockKey key, std::uint32_t bytes) {
    BlockNode*& node = nodes_[{key.file_id, key.offset}];
    if (node == nullptr) node = &made(key, bytes);
    return *node;
  }
  /// Returns another node of that name, for the caller to free.
  BlockNode& made(BlockKey key, std::uint32_t bytes) {
    BlockNode* const node = memory_.allocate(bytes, kTestType);
    node->key = key;
    return *node;
  }
  void free(BlockNode& node) { memory_.free(node); }

 private:
  io::Scheduler scheduler_;
  SpanSource source_{scheduler_};
  BlockMemory memory_{nullptr, source_};
  std::map<std::pair<std::uint64_t, std::uint64_t>, BlockNode*> nodes_;
};

/// The test chooses the place of a block.
struct Entry {
  BlockKey key;
  std::uint64_t hash;
};

TEST(BlockIndex, FindsWhatOverflowsItsBucketAndForgetsWhatIsRemoved) {
  // All have one bucket: they fill it and the two buckets after it, around the end of the table.
  Nodes nodes;
  const BlockIndex::Owned index = BlockIndex::make(4);
  ASSERT_NE(index, nullptr);
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < BlockIndex::room_in(4); ++i) entries.push_back({{1, i}, 3 | i << 32});
  for (const Entry& entry : entries) index->insert(nodes[entry.key], entry.hash);
  for (const Entry& entry : entries) EXPECT_EQ(index->find(entry.key, entry.hash), &nodes[entry.key]);
  EXPECT_EQ(index->find({1, 99}, 3), nullptr);
  EXPECT_EQ(index->find({2, 0}, 3), nullptr);  // differs from the first only in the file

  // Entries in later buckets stay reachable when earlier ones are removed.
  for (std::size_t gone = 0; gone < entries.size(); ++gone) {
    index->remove(nodes[entries[gone].key], entries[gone].hash);
    EXPECT_EQ(index->find(entries[gone].key, entries[gone].hash), nullptr);
    for (std::size_t i = gone + 1; i < entries.size(); ++i) {
      ASSERT_EQ(index->find(entries[i].key, entries[i].hash), &nodes[entries[i].key]);
    }
  }
}

TEST(BlockIndex, TellsNamesOfTheSameTagApart) {
  Nodes nodes;
  const BlockIndex::Owned index = BlockIndex::make(1);
  const BlockKey first{1, 100};
  const BlockKey second{1, 200};
  const BlockKey of_far_file{1 + (1 << 6), 100};  // the same six bits of its number
  index->insert(nodes[first], 0);
  index->insert(nodes[of_far_file], 0);
  EXPECT_EQ(index->find(first, 0), &nodes[first]);
  EXPECT_EQ(index->find(of_far_file, 0), &nodes[of_far_file]);
  EXPECT_EQ(index->find(second, 0), nullptr);

  std::set<const BlockNode*> of_first;
  index->for_each_of_file(1, [&](BlockNode& node) { of_first.insert(&node); });
  EXPECT_EQ(of_first, (std::set<const BlockNode*>{&nodes[first]}));
}

TEST(BlockIndex, FindsReplacesAndRemovesBlocksOfAllSizes) {
  Nodes nodes;
  const BlockIndex::Owned index = BlockIndex::make(4);
  // Up to the largest size that a word holds, and far beyond it.
  const std::vector<std::uint32_t> sizes = {0,        1,        63,     64, 65, 8'000, 255 * 64, 255 * 64 + 1,
                                            256 * 64, 511 * 64, 5 << 20};
  const auto key_of = [](std::uint32_t size) { return BlockKey{63, size}; };
  for (const std::uint32_t size : sizes) index->insert(nodes.sized(key_of(size), size), size);
  for (const std::uint32_t size : sizes) {
    ASSERT_EQ(index->find(key_of(size), size), &nodes[key_of(size)]) << size;
    BlockNode& moved = nodes.made(key_of(size), size);
    index->replace(nodes[key_of(size)], moved, size);
    ASSERT_EQ(index->find(key_of(size), size), &moved) << size;
    std::set<std::uint64_t> of_file;
    index->for_each_of_file(63, [&](BlockNode& node) { of_file.insert(node.key.offset); });
    EXPECT_TRUE(of_file.contains(size));
    index->remove(moved, size);
    EXPECT_EQ(index->find(key_of(size), size), nullptr) << size;
    nodes.free(moved);
  }
}

TEST(BlockIndex, FetchesOfBlocksThatAreThereAndOfNone) {
  Nodes nodes;
  const BlockIndex::Owned index = BlockIndex::make(4);
  const BlockKey key{1 << 11, 64};  // with the hash zero its tag is zero, like that of a free slot
  index->prefetch(key, 0);
  index->insert(nodes[key], 0);
  index->prefetch(key, 0);
  index->prefetch({1, 64}, 3);
  EXPECT_EQ(index->find(key, 0), &nodes[key]);
}

TEST(BlockIndex, AnEmptyTableAndATagOfZeroFindNothing) {
  const BlockIndex::Owned index = BlockIndex::make(2);
  EXPECT_EQ(index->find({0, 0}, 0), nullptr);
  EXPECT_EQ(index->find({std::uint64_t{1} << 11, 0}, 1), nullptr);
  index->for_each_of_file(0, [](BlockNode&) { FAIL(); });
}

// Method: a full table of few buckets, so that all of them overflow, compared with a set.
TEST(BlockIndex, EqualsASetUnderRandomChange) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::uint64_t buckets = std::uint64_t{1} << (random() % 5);
    Nodes nodes;
    const BlockIndex::Owned index = BlockIndex::make(buckets);
    std::map<std::uint64_t, BlockKey> present;
    for (int step = 0; step < 5'000; ++step) {
      const std::uint64_t number = random() % (2 * BlockIndex::room_in(buckets));
      const BlockKey key{number % 3, number};
      const std::uint64_t hash = hash_of(key);
      const bool is_present = present.contains(number);
      ASSERT_EQ(index->find(key, hash), is_present ? &nodes[key] : nullptr);
      if (is_present) {
        index->remove(nodes[key], hash);
        present.erase(number);
      } else if (present.size() < BlockIndex::room_in(buckets)) {
        index->insert(nodes[key], hash);
        present.emplace(number, key);
      }
    }
    for (std::uint64_t file_id = 0; file_id < 3; ++file_id) {
      std::set<std::uint64_t> expected;
      for (const auto& [number, key] : present) {
        if (key.file_id == file_id) expected.insert(number);
      }
      std::set<std::uint64_t> seen;
      index->for_each_of_file(file_id, [&](BlockNode& node) {
        seen.insert(node.key.offset);
        index->remove(node, hash_of(node.key));
      });
      EXPECT_EQ(seen, expected);
    }
  }
}

}  // namespace
}  // namespace varve::engine::block_index_test
