// Goal: searches of one table find its filter and index partitions by links, never by a link to a block that left.
// Method: one small file, read key by key through a cache that loses its blocks at different moments.
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "engine/levels/levels.h"
#include "engine/read/lookup.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/table_file.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::lookup_links_test {
namespace {

constexpr std::uint64_t kNumber = 7;
constexpr std::uint64_t kCacheBytes = 1 << 20;

class LookupLinksTest : public testing::Test {
 protected:
  void SetUp() override {
    format::TableOptions options;
    options.compression_level = 0;
    const auto builder = *format::TableBuilder::make(kNumber, 1, options);
    for (int row = 1000; row < 1200; ++row) {
      ASSERT_TRUE(builder->add({key(row), 900, Kind::kPut, std::string(300, 'v')}).ok());
    }
    entry_ = *builder->finish();
    entry_.level = 1;
    io::MemoryDisk disk;
    disk.write_file(std::string(test::kStorePath) + "/" + format::file_name(format::FileType::kTable, kNumber),
                    format::as_bytes(builder->pending()));
    machine_ = std::make_unique<test::Machine>(1, std::move(disk));
    env_ = std::make_unique<io::Env>(machine_->env());
    directory_ = *env_->files.open_directory(test::kStorePath);
    cache_ = std::make_shared<BlockCache>(scheduler_, kCacheBytes);
    blocks_.emplace(scheduler_, *cache_);
    files_ = std::make_unique<TableFiles>(*env_, *directory_, cache_, test::few_open_files(env_->scheduler), [] {});
    add_file();
  }
  void TearDown() override {
    levels_.reset();
    table_.reset();
    cache_->check_invariants();
  }

  void add_file() {
    table_ = files_->add(entry_);
    levels_ = *Levels::make({std::make_shared<const LevelFile>(LevelFile{entry_, table_})});
  }
  static std::string key(int row) { return test::key_of("p", std::to_string(row)); }

  /// Reads a key as point reads do. Returns whether it was found.
  bool read(int row) {
    const std::string wanted = key(row);
    Lookup lookup(*levels_, wanted, format::kCommitVersionMax, EntryPart::kAll, &cost_);
    PinnedBlock block;
    for (;;) {
      Lookup::Step step = Lookup::Step::kFailed;
      {
        BlockCache::ReadGuard guard(*cache_);
        step = lookup.advance(guard, block ? &*block : nullptr);
        if (step == Lookup::Step::kFound) {
          EXPECT_EQ(lookup.entry().value, std::string(300, 'v'));
        }
      }
      block.release();
      if (step == Lookup::Step::kFound || step == Lookup::Step::kAbsent) {
        lookup.keep_known(*cache_);
        return step == Lookup::Step::kFound;
      }
      if (step == Lookup::Step::kWantsTable) {
        EXPECT_TRUE(lookup.open_wanted().ok());
      } else if (step == Lookup::Step::kWantsBlock) {
        block = *blocks_->read(lookup.wanted());
      } else {
        ADD_FAILURE() << lookup.status().to_string();
        return false;
      }
    }
  }
  bool is_linked(format::BlockType type) const { return table_->open_already()->links->of(0, type)->is_set(); }
  bool are_both_linked() const {
    return is_linked(format::BlockType::kFilterPartition) && is_linked(format::BlockType::kIndexPartition);
  }

  io::Scheduler scheduler_;
  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Env> env_;
  std::unique_ptr<io::Directory> directory_;
  std::shared_ptr<BlockCache> cache_;
  std::optional<BlockReader> blocks_;
  std::unique_ptr<TableFiles> files_;
  format::TableFileEntry entry_;
  std::shared_ptr<TableFile> table_;
  std::optional<Levels> levels_;
  ReadCost cost_;
};

TEST_F(LookupLinksTest, FewSearchesLinkBothPartitionsAndCostsStayAsTheyWere) {
  EXPECT_TRUE(read(1000));
  EXPECT_FALSE(are_both_linked());
  for (int row = 1001; row < 1004; ++row) EXPECT_TRUE(read(row));
  EXPECT_TRUE(are_both_linked());
  const ReadCost before = cost_;
  const BlockCacheFigures figures = cache_->figures();
  EXPECT_TRUE(read(1000));
  EXPECT_EQ(cost_.blocks_from_cache, before.blocks_from_cache + 3);
  EXPECT_EQ(cost_.blocks_read, before.blocks_read);
  EXPECT_EQ(cache_->figures().hits, figures.hits + 3);
  EXPECT_EQ(cache_->figures().misses, figures.misses);
}

TEST_F(LookupLinksTest, PartitionsThatLeftTheCacheAreReadAndLinkedAgain) {
  for (int round = 0; round < 4; ++round) {
    for (int row = 1000; row < 1010; ++row) EXPECT_TRUE(read(row)) << row;
    EXPECT_FALSE(read(3000));
    EXPECT_TRUE(are_both_linked());
    if (round % 2 == 0) {
      cache_->set_bytes_max(0);
    } else {
      cache_->erase_file(table_->open_already()->cache_id);
    }
    EXPECT_FALSE(is_linked(format::BlockType::kFilterPartition));
    EXPECT_FALSE(is_linked(format::BlockType::kIndexPartition));
    EXPECT_TRUE(read(1000));
    EXPECT_TRUE(read(1000));
    cache_->set_bytes_max(kCacheBytes);
  }
}

TEST_F(LookupLinksTest, AFileThatEndsTakesItsLinksAlongBeforeItsBlocks) {
  for (int row = 1000; row < 1010; ++row) EXPECT_TRUE(read(row));
  ASSERT_TRUE(are_both_linked());
  table_->leave();
  levels_.reset();
  table_.reset();
  EXPECT_GT(cache_->figures().block_count, 0U) << "garbage, which is removed later";
  cache_->check_invariants();
  cache_->set_bytes_max(0);  // Evicts the blocks, which no longer have links.
  EXPECT_EQ(cache_->figures().block_count, 0U);
}

}  // namespace
}  // namespace varve::engine::lookup_links_test
