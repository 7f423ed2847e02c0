// Owns: the promises of the memtable's index (engine/memory/key_index.h).

#include "engine/memory/key_index.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/memory/arena.h"
#include "engine/memory/memtable_node.h"
#include "io/scheduler.h"
#include "tests/support/allocation_counter.h"

namespace varve::engine::key_index_test {
namespace {

using format::CommitVersion;

/// Entries that are in no skiplist.
class Nodes {
 public:
  const MemtableNode& make(const std::string& key, CommitVersion version) {
    using Link = MemtableNode::Link;
    char* const at = arena_.take(sizeof(Link) + sizeof(MemtableNode) + key.size() + format::kInternalSuffixBytes);
    new (at) Link(nullptr);
    auto* const node = new (at + sizeof(Link)) MemtableNode;
    node->key_bytes = static_cast<std::uint32_t>(key.size() + format::kInternalSuffixBytes);
    char* const end = std::copy(key.begin(), key.end(), node->bytes());
    format::store_internal_suffix(end, version, format::Kind::kPut);
    return *node;
  }

 private:
  Arena arena_;
};

KeyIndex::Table& reserve(KeyIndex& index, std::uint64_t count) {
  const std::uint64_t bytes = index.missing_bytes(count);
  return index.reserve(count, bytes == 0 ? nullptr : KeyIndex::make_table(bytes));
}

void insert(KeyIndex& index, const MemtableNode& node, std::uint64_t hash, bool has_older = false) {
  index.insert(reserve(index, 1), node, hash, has_older);
}

TEST(KeyIndex, AnEmptyOneFindsNothing) {
  const KeyIndex index;
  EXPECT_EQ(index.find("key", KeyIndex::hash_of("key")), nullptr);
  EXPECT_EQ(index.bytes(), 0u);
  EXPECT_EQ(index.missing_bytes(0), index.missing_bytes(1));  // it has no table yet
}

TEST(KeyIndex, FindsEveryKeyAcrossAllItsTables) {
  Nodes nodes;
  KeyIndex index;
  std::map<std::string, const MemtableNode*> model;
  for (CommitVersion version = 1; version <= 100'000; ++version) {
    const std::string key = "key " + std::to_string(version);
    const MemtableNode& node = nodes.make(key, version);
    insert(index, node, KeyIndex::hash_of(key));
    model[key] = &node;
  }
  for (const auto& [key, node] : model) ASSERT_EQ(index.find(key, KeyIndex::hash_of(key)), node);
  for (int i = 0; i < 10'000; ++i) {
    const std::string key = "other " + std::to_string(i);
    ASSERT_EQ(index.find(key, KeyIndex::hash_of(key)), nullptr);
  }
  EXPECT_GT(index.bytes(), 100'000u * 8);
  EXPECT_LT(index.bytes(), 100'000u * 64);
}

TEST(KeyIndex, KeysOfOneHashAreToldApart) {
  Nodes nodes;
  KeyIndex index;
  // All begin at the last slot, for any size of the table, and continue at its first slot.
  constexpr std::uint64_t kHash = ~std::uint64_t{0};
  std::vector<const MemtableNode*> inserted;
  for (CommitVersion i = 1; i <= 200; ++i) {
    inserted.push_back(&nodes.make("key " + std::to_string(i), i));
    insert(index, *inserted.back(), kHash);
  }
  for (const MemtableNode* node : inserted) ASSERT_EQ(index.find(node->sort_key(), kHash), node);
  EXPECT_EQ(index.find("key 0", kHash), nullptr);
}

TEST(KeyIndex, HashesThatDifferInTheirUpperBitsAloneAreToldApart) {
  Nodes nodes;
  KeyIndex index;
  for (CommitVersion i = 1; i <= 100; ++i) insert(index, nodes.make("key " + std::to_string(i), i), (i << 45) | 5);
  for (CommitVersion i = 1; i <= 100; ++i) {
    const std::string key = "key " + std::to_string(i);
    ASSERT_NE(index.find(key, (i << 45) | 5), nullptr);
    ASSERT_EQ(index.find(key, (i << 45) | 5)->version(), i);
  }
}

TEST(KeyIndex, ANewerEntryReplacesAnOlderOneAndNeverTheReverse) {
  Nodes nodes;
  KeyIndex index;
  const std::uint64_t hash = KeyIndex::hash_of("key");
  const std::array<std::pair<CommitVersion, CommitVersion>, 5> steps = {
      {{20, 20}, {30, 30}, {10, 30}, {25, 30}, {31, 31}}};
  for (const auto& [version, newest] : steps) {
    insert(index, nodes.make("key", version), hash, version != 20);
    ASSERT_EQ(index.find("key", hash)->version(), newest);
  }
}

TEST(KeyIndex, VersionsOfOneKeyTakeOneSlot) {
  Nodes nodes;
  KeyIndex index;
  const std::uint64_t hash = KeyIndex::hash_of("key");
  insert(index, nodes.make("key", 1), hash);
  const std::uint64_t bytes = index.bytes();
  for (CommitVersion version = 2; version <= 10'000; ++version) insert(index, nodes.make("key", version), hash, true);
  EXPECT_EQ(index.bytes(), bytes);
}

TEST(KeyIndex, TheNewestIsFoundWhereAKeyHasSlotsInSeveralTables) {
  // Two writers of one key that do not see each other, with tables that were reserved at different times.
  for (const bool newer_first : {false, true}) {
    Nodes nodes;
    KeyIndex index;
    const std::uint64_t hash = KeyIndex::hash_of("key");
    KeyIndex::Table& older_table = reserve(index, 1);
    KeyIndex::Table& newer_table = reserve(index, 10'000);
    ASSERT_NE(&older_table, &newer_table);
    index.insert(newer_first ? newer_table : older_table, nodes.make("key", 2), hash, false);
    index.insert(newer_first ? older_table : newer_table, nodes.make("key", 1), hash, false);
    EXPECT_EQ(index.find("key", hash)->version(), 2u);
    index.insert(older_table, nodes.make("key", 3), hash, true);
    EXPECT_EQ(index.find("key", hash)->version(), 3u);
  }
}

TEST(KeyIndex, WritersOfOneKeyThatDoNotSeeEachOtherShareASlotOfOneTable) {
  for (const bool newer_first : {false, true}) {
    Nodes nodes;
    KeyIndex index;
    KeyIndex::Table& table = reserve(index, 2);
    const std::uint64_t hash = KeyIndex::hash_of("key");
    index.insert(table, nodes.make("key", newer_first ? 2 : 1), hash, false);
    index.insert(table, nodes.make("key", newer_first ? 1 : 2), hash, false);
    EXPECT_EQ(index.find("key", hash)->version(), 2u);
  }
}

TEST(KeyIndex, AReservationIsGoodForItsTableHoweverManyComeAfterIt) {
  Nodes nodes;
  KeyIndex index;
  KeyIndex::Table& first = reserve(index, 300);
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = "later " + std::to_string(i);
    insert(index, nodes.make(key, 1), KeyIndex::hash_of(key));
  }
  for (int i = 0; i < 300; ++i) {
    const std::string key = "first " + std::to_string(i);
    index.insert(first, nodes.make(key, 1), KeyIndex::hash_of(key), false);
  }
  for (int i = 0; i < 300; ++i) {
    const std::string key = "first " + std::to_string(i);
    ASSERT_NE(index.find(key, KeyIndex::hash_of(key)), nullptr);
  }
}

TEST(KeyIndex, InsertAndFindTakeNoMemory) {
  Nodes nodes;
  KeyIndex index;
  const std::uint64_t hash = KeyIndex::hash_of("key");
  const MemtableNode& first = nodes.make("key", 1);
  const MemtableNode& second = nodes.make("key", 2);
  KeyIndex::Table& table = reserve(index, 2);
  const std::uint64_t before = test::allocation_count();
  index.insert(table, first, hash, false);
  index.insert(table, second, hash, true);
  const MemtableNode* const found = index.find("key", hash);
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_EQ(found, &second);
}

TEST(KeyIndex, ThreadsThatInsertTheSameKeysLoseNone) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kEntries = 20'000;  // of each thread
  constexpr std::uint64_t kKeys = 5'000;
  std::array<Nodes, kThreads> nodes;
  KeyIndex index;
  io::Scheduler scheduler;
  io::Mutex reserving(scheduler);
  std::array<std::atomic<CommitVersion>, kKeys> newest{};  // of the entries whose insert has returned

  std::vector<io::Thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.push_back(*scheduler.start("inserter", [&, thread] {
      std::mt19937_64 random(thread);
      for (std::uint64_t i = 0; i < kEntries; ++i) {
        const std::uint64_t number = random() % kKeys;
        const std::string key = std::to_string(number);
        const std::uint64_t hash = KeyIndex::hash_of(key);
        const CommitVersion version = 1 + i * kThreads + thread;
        const MemtableNode& node = nodes[thread].make(key, version);
        KeyIndex::Table* table = nullptr;
        {
          const io::MutexGuard guard(reserving);
          table = &reserve(index, 1);
        }
        const CommitVersion before = newest[number].load(std::memory_order_acquire);
        index.insert(*table, node, hash, before != 0);
        CommitVersion seen = newest[number].load(std::memory_order_acquire);
        while (seen < version && !newest[number].compare_exchange_weak(seen, version, std::memory_order_acq_rel)) {
        }
        const MemtableNode* const found = index.find(key, hash);
        ASSERT_NE(found, nullptr);
        ASSERT_GE(found->version(), version);
        ASSERT_GE(found->version(), before);
      }
    }));
  }
  threads.clear();
  for (std::uint64_t number = 0; number < kKeys; ++number) {
    const std::string key = std::to_string(number);
    const MemtableNode* const found = index.find(key, KeyIndex::hash_of(key));
    ASSERT_EQ(found == nullptr ? 0 : found->version(), newest[number].load());
  }
}

}  // namespace
}  // namespace varve::engine::key_index_test
