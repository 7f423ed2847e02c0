// Goal: the last user of a table file, often a reader, does not clean up after it. Nothing of the file remains: neither
// its name nor its blocks.
// Method: one small file on a disk of its own, read through a cache.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/tables/block_reader.h"
#include "engine/tables/table_cursor.h"
#include "engine/tables/table_file.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::table_files_test {
namespace {

constexpr std::uint64_t kNumber = 7;

/// The table files of a store, one of which is open and cached.
class TableFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    format::TableOptions options;
    options.compression_level = 0;
    const auto builder = *format::TableBuilder::make(kNumber, 1, options);
    for (int row = 1000; row < 1200; ++row) {
      ASSERT_TRUE(builder->add({test::key_of("p", std::to_string(row)), 900, Kind::kPut, std::string(300, 'v')}).ok());
    }
    const format::TableFileEntry entry = *builder->finish();
    io::MemoryDisk disk;
    disk.write_file(std::string(test::kStorePath) + "/" + name_, format::as_bytes(builder->pending()));
    machine_ = std::make_unique<test::Machine>(1, std::move(disk));
    env_ = std::make_unique<io::Env>(machine_->env());
    directory_ = *env_->files.open_directory(test::kStorePath);
    cache_ = std::make_shared<BlockCache>(scheduler_, 1 << 20);
    removal_ = std::make_unique<NameRemoval>(scheduler_, *directory_);
    files_ = std::make_unique<TableFiles>(*env_, *directory_, cache_, test::few_open_files(env_->scheduler),
                                          [this] { ++wakes_; });
    table_ = files_->add(entry);
    read_all();
    ASSERT_GT(cached_blocks(), 10U);
  }

  void read_all() {
    BlockReader reader(scheduler_, *cache_);
    TableCursor cursor(*table_, reader, nullptr);
    for (cursor.seek("", format::kCommitVersionMax); cursor.valid(); cursor.next()) continue;
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
  }

  std::uint64_t cached_blocks() const { return cache_->figures().block_count; }
  bool has_name() { return directory_->open(name_, io::ReadMode::kDirect).ok(); }

  const std::string name_ = format::file_name(format::FileType::kTable, kNumber);
  io::Scheduler scheduler_;
  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Env> env_;
  std::unique_ptr<io::Directory> directory_;
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<NameRemoval> removal_;
  int wakes_ = 0;
  std::unique_ptr<TableFiles> files_;
  std::shared_ptr<TableFile> table_;
};

TEST_F(TableFilesTest, TheMemoryOfAFileCountsInTheCacheFromItsAddingToItsEnd) {
  const std::uint64_t opened = cache_->figures().beside_bytes;
  const OpenTable* const open = table_->open_already();
  ASSERT_NE(open, nullptr);
  EXPECT_GT(open->memory_bytes(), open->index.runs().size() * sizeof(format::RunEntry));
  EXPECT_GT(opened, open->memory_bytes()) << "the file's entry counts too";
  const std::shared_ptr<TableFile> unopened = files_->add(table_->entry());
  EXPECT_EQ(cache_->figures().beside_bytes, opened + opened - open->memory_bytes());
  table_.reset();
  EXPECT_LT(cache_->figures().beside_bytes, opened);
  EXPECT_GT(cache_->figures().beside_bytes, 0u);
}

TEST_F(TableFilesTest, TheLastUserOfAFileThatLeftClearsNothingUp) {
  table_->leave();
  const std::uint64_t blocks = cached_blocks();
  table_.reset();
  EXPECT_EQ(cached_blocks(), blocks);
  EXPECT_TRUE(has_name());
  EXPECT_EQ(wakes_, 1);
}

TEST_F(TableFilesTest, RemovingGarbageTakesNameAndBlocks) {
  table_->leave();
  table_.reset();
  ASSERT_TRUE(files_->remove_garbage(*removal_).ok());
  EXPECT_EQ(cached_blocks(), 0U);
  EXPECT_FALSE(has_name());
}

TEST_F(TableFilesTest, BlocksOfGarbageThatNobodyRemovedEndWithTheStore) {
  table_->leave();
  table_.reset();
  files_.reset();
  EXPECT_EQ(cached_blocks(), 0U);
  EXPECT_TRUE(has_name());  // A stray file, which the next open removes.
}

TEST_F(TableFilesTest, AFileThatStaysInTheStoreTakesItsBlocksAlongWhenItIsClosed) {
  table_.reset();
  EXPECT_EQ(cached_blocks(), 0U);
  EXPECT_TRUE(has_name());
  EXPECT_EQ(wakes_, 0);
}

}  // namespace
}  // namespace varve::engine::table_files_test
