// Goal: keys that are looked up in the block of their neighbour get the answers of single lookups.
// Method: by seed, stores of many tables. Rows are rewritten, deleted, and have more versions than a block holds, so
// that every kind of border between blocks occurs. Batches have keys in any order, some twice, some absent. They are
// read at the newest version and at older ones, with caches that hold everything, little, or almost nothing.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::known_blocks_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::uint64_t kRows = 400;

class KnownBlocksTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  void fill(std::uint64_t cache_bytes) {
    EngineOptions options = Machine::writable();
    options.block_cache = std::make_shared<BlockCache>(machine_.scheduler(), cache_bytes);
    engine_ = *machine_.open(options);
    for (int generation = 0; generation < 12; ++generation) {
      for (int change = 0; change < 6; ++change) write_some();
      if (below(3) == 0) views_.push_back(engine_->view());
      if (generation < 11) {
        ASSERT_TRUE(engine_->flush().ok());
      }
      if (generation == 4) {
        ASSERT_TRUE(engine_->compact().ok());
      }
    }
    views_.push_back(engine_->view());
  }
  void TearDown() override { views_.clear(); }

  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }
  /// Returns the key of a row. Every second row is never written.
  static std::string key(std::uint64_t row) { return test::key_of("p", std::to_string(100'000 + row)); }

  void write_some() {
    Change change;
    const std::uint64_t first = below(kRows);
    for (std::uint64_t row = first; row < std::min(first + 60, kRows); ++row) write(change, 2 * row);
    const std::uint64_t popular = below(3);  // rows with very many versions
    if (popular < first) write(change, 2 * popular);
    ASSERT_TRUE(change.buffered().commit(*engine_).ok());
  }
  void write(Change& change, std::uint64_t row) {
    const std::string name = std::to_string(100'000 + row);
    if (below(8) == 0) {
      change.remove("p", name);
    } else {
      change.put("p", name, std::string(1 + below(900), static_cast<char>('a' + below(26))));
    }
  }

  std::vector<std::string> some_keys() {
    std::vector<std::string> keys;
    const std::uint64_t first = below(2 * kRows);
    const std::uint64_t step = 1 + below(4);
    for (std::uint64_t i = 0; i < 100; ++i) keys.push_back(key((first + i * step) % (2 * kRows + 4)));
    for (std::uint64_t i = below(20); i > 0; --i) keys.push_back(keys[below(keys.size())]);
    if (below(2) == 0) {
      for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[below(i)]);
    }
    return keys;
  }

  Machine machine_{1};
  io::SeededRandom random_{GetParam()};
  std::unique_ptr<Engine> engine_;
  std::vector<ReadView> views_;
};

TEST_P(KnownBlocksTest, GiveEachKeyOfABatchWhatItGetsAlone) {
  constexpr std::array<std::uint64_t, 3> kCacheBytes = {64 << 20, 256 << 10, 16 << 10};
  fill(kCacheBytes[GetParam() % kCacheBytes.size()]);
  std::size_t found_count = 0;
  for (int batch = 0; batch < 40; ++batch) {
    const std::vector<std::string> keys = some_keys();
    const ReadView& view = views_[below(views_.size())];
    const auto together = view.get_many(std::vector<std::string_view>(keys.begin(), keys.end()));
    ASSERT_TRUE(together.ok()) << together.status().to_string();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto alone = view.get(keys[i]);
      ASSERT_TRUE(alone.ok()) << alone.status().to_string();
      ASSERT_EQ((*together)[i].has_value(), alone->has_value()) << "seed " << GetParam() << ", key " << i;
      if (!*alone) continue;
      ++found_count;
      ASSERT_EQ((*together)[i]->version, (*alone)->version) << "seed " << GetParam() << ", key " << i;
      ASSERT_EQ((*together)[i]->value, (*alone)->value) << "seed " << GetParam() << ", key " << i;
    }
  }
  EXPECT_GT(found_count, 500u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, KnownBlocksTest, testing::Range<std::uint64_t>(1, 25));

TEST(KnownBlocks, SpareNeighboursTheFilterAndTheIndex) {
  Machine machine(1);
  const auto engine = *machine.open();
  Change change;
  std::vector<std::string> keys;
  for (int row = 1000; row < 1100; ++row) {
    change.put("p", std::to_string(row), std::string(300, 'v'));
    keys.push_back(test::key_of("p", std::to_string(row)));
  }
  ASSERT_TRUE(change.commit(*engine).ok());
  ASSERT_TRUE(engine->flush().ok());
  const std::vector<std::string_view> wanted(keys.begin(), keys.end());
  ASSERT_TRUE(engine->view().get_many(wanted).ok());  // all blocks are cached afterwards
  ReadCost cost;
  ASSERT_TRUE(engine->view().get_many(wanted, &cost).ok());
  EXPECT_EQ(cost.blocks_read, 0u);
  EXPECT_LT(cost.blocks_from_cache, 150u);  // a filter, an index and a data block each would be 300
}

}  // namespace
}  // namespace varve::engine::known_blocks_test
