// Goal: what delete_where() deleted costs later readers next to nothing: a seek over it reads at most twice the blocks of a
// seek to the first entity after it, be it a range of rows, a partition or the table.
// Method: entities of incompressible text fill many blocks. The deletes lie in memory or in tables above. The blocks of a
// page of one entity are counted, forward and backward.
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::test::table_where_seek_test {
namespace {

constexpr int kRows = 400;

class TableWhereSeek : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    open_store();
    table_.emplace(bench_.table());
    for (const std::string_view partition : {"a", "b", "c"}) {
      EntityGroupTransaction group;
      for (int row = 0; row < kRows; ++row) {
        group.insert(entity(partition, row));
        if (row % 100 != 99) continue;
        ASSERT_EQ(said(table_->execute(group)), kFine);
        group = EntityGroupTransaction();
      }
    }
    ASSERT_EQ(said(bench_.store->compact()), kFine);
    ASSERT_GT(blocks_of_all(), 60U);
  }

  /// Opens the store with a buffer that the deletes of a partition fill, or not.
  void open_store() {
    ResourceOptions resources;
    resources.write_buffer_bytes = flushes() ? 128 << 10 : 8 << 20;
    StoreOptions options = bench_.options();
    options.resources = *Resources::create(resources);
    bench_.open(options);
  }
  static bool flushes() { return GetParam(); }

  Entity entity(std::string_view partition, int row) {
    Entity made(std::string(partition), std::to_string(1000 + row));
    std::string padding(400, ' ');  // incompressible
    for (char& c : padding) c = static_cast<char>('0' + random_() % 64);
    made.set("Padding", padding);
    return made;
  }
  static std::uint64_t blocks_of(const PageCost& cost) { return cost.blocks_read + cost.blocks_from_cache; }
  std::uint64_t blocks_of_all() {
    const Result<Count> count = table_->count(Scan());
    EXPECT_EQ(said(count), kFine);
    return blocks_of(count->cost);
  }
  /// Returns the blocks that a page of one entity reads. Expects this entity, or none if it is empty.
  std::uint64_t blocks_of_first(const ScanRange& range, bool backward, const std::string& expected) {
    Scan scan;
    scan.range = range;
    scan.backward = backward;
    scan.take = 1;
    const Result<Page> page = table_->scan(scan);
    EXPECT_EQ(said(page), kFine);
    const std::vector<std::string> keys = keys_of(*page);
    EXPECT_EQ(keys.empty() ? std::string() : keys.front(), expected);
    return blocks_of(page->cost);
  }
  void delete_where(const Where& where, std::uint64_t count) {
    const Result<WhereProgress> done = table_->delete_where(where);
    ASSERT_EQ(said(done), kFine);
    ASSERT_EQ(done->changed, count);
  }

  std::mt19937_64 random_{11};
  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_P(TableWhereSeek, OverARangeOfRowsCostsLittle) {
  ASSERT_NO_FATAL_FAILURE(delete_where({.range = ScanRange::rows("b", "1020", "1380"), .all = true}, 360));
  const std::uint64_t clean = blocks_of_first(ScanRange::rows("b", "1380"), false, "b/1380");
  EXPECT_LE(blocks_of_first(ScanRange::rows("b", "1020"), false, "b/1380"), 2 * clean);
  EXPECT_LE(blocks_of_first(ScanRange::rows("b", "1200"), false, "b/1380"), 2 * clean);
  const std::uint64_t backward = blocks_of_first(ScanRange::rows("b", "1000", "1020"), true, "b/1019");
  EXPECT_LE(blocks_of_first(ScanRange::rows("b", "1000", "1380"), true, "b/1019"), 2 * backward);
  EXPECT_LE(blocks_of_first(ScanRange::rows("b", "1020", "1380"), false, ""), 2 * clean);
}

TEST_P(TableWhereSeek, OverAPartitionCostsLittle) {
  ASSERT_NO_FATAL_FAILURE(delete_where({.range = ScanRange::partition("b"), .all = true}, kRows));
  const std::uint64_t clean = blocks_of_first(ScanRange::partition("c"), false, "c/1000");
  EXPECT_LE(blocks_of_first(ScanRange::partitions("b"), false, "c/1000"), 2 * clean);
  EXPECT_LE(blocks_of_first(ScanRange::partition("b"), false, ""), 2 * clean);
  EXPECT_LE(blocks_of_first(ScanRange::partition("b"), true, ""), 2 * clean);
  const std::uint64_t backward = blocks_of_first(ScanRange::partition("a"), true, "a/1399");
  EXPECT_LE(blocks_of_first(ScanRange::partitions("a", "c"), true, "a/1399"), 2 * backward);
}

TEST_P(TableWhereSeek, OverTheTableCostsLittle) {
  // Flushes of the deletes make files, whose number depends on the moment. Each costs a seek some blocks of its own.
  constexpr std::uint64_t kOfNewFiles = 10;
  const std::uint64_t clean = blocks_of_first(ScanRange::whole_table(), false, "a/1000");
  ASSERT_NO_FATAL_FAILURE(delete_where({.all = true}, 3 * kRows));
  EXPECT_LE(blocks_of_first(ScanRange::whole_table(), false, ""), 2 * clean + kOfNewFiles);
  EXPECT_LE(blocks_of_first(ScanRange::whole_table(), true, ""), 2 * clean + kOfNewFiles);
  ASSERT_EQ(said(table_->insert(entity("b", 7))), kFine);
  EXPECT_LE(blocks_of_first(ScanRange::whole_table(), false, "b/1007"), 2 * clean + kOfNewFiles);
}

/// A filter leaves entities between those that it deletes. They are all that a page reads.
TEST_P(TableWhereSeek, OverWhatAFilterDeletedCostsLittle) {
  ASSERT_NO_FATAL_FAILURE(delete_where({.filter = "RowKey ge '1100' and RowKey lt '1390'"}, 3 * 290));
  for (const std::string partition : {"a", "b", "c"}) {
    const std::uint64_t clean = blocks_of_first(ScanRange::rows(partition, "1390"), false, partition + "/1390");
    EXPECT_LE(blocks_of_first(ScanRange::rows(partition, "1100"), false, partition + "/1390"), 2 * clean);
  }
}

INSTANTIATE_TEST_SUITE_P(DeletesInMemoryAndInTables, TableWhereSeek, ::testing::Values(false, true),
                         [](const auto& chosen) { return chosen.param ? "InTables" : "InMemory"; });

}  // namespace
}  // namespace varve::test::table_where_seek_test
