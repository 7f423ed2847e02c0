// Goal: of a table file whose checksums all hold, and that says something impossible all the same, what is possible is
// saved, and the rest is told as lost; what a newer build may have meant ends the repair.
// Method: a file of several blocks, with one of them made anew.
#include "engine/repair/salvaged_table.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/data_block.h"
#include "format/file_header.h"
#include "format/index_cursor.h"
#include "format/table_builder.h"
#include "format/table_index.h"
#include "tests/support/engine_bench.h"
#include "tests/support/store_image.h"

namespace varve::engine {
namespace {

using format::BlockHandle;
using format::BlockType;

constexpr std::uint64_t kNumber = 9;
constexpr std::uint64_t kSeed = 0x1122334455667788;
constexpr int kRowCount = 400;
constexpr CommitVersion kVersion = 30;

std::string row_key(int row) {
  return test::key_of("p", std::to_string(1'000 + row));
}

class SalvagedTableTest : public testing::Test {
 protected:
  void SetUp() override {
    format::TableOptions options;
    options.compression_level = 0;
    const auto builder = *format::TableBuilder::make(kNumber, kSeed, options);
    for (int row = 0; row < kRowCount; ++row) {
      ASSERT_TRUE(builder->add({row_key(row), kVersion, Kind::kPut, std::string(100, 'v')}).ok());
    }
    const Result<format::TableFileEntry> finished = builder->finish();
    ASSERT_TRUE(finished.ok()) << finished.status().to_string();
    bytes_ = builder->pending();
    source_.name = format::file_name(format::FileType::kTable, kNumber);
    source_.entry = *finished;
    source_.is_named = source_.has_bounds = true;
    const auto read = [this](std::uint64_t offset, std::uint64_t bytes) -> Result<std::string_view> {
      return std::string_view(bytes_).substr(offset, bytes);
    };
    const auto index = format::open_table({kNumber, kSeed, bytes_.size()}, read, decompressor_);
    ASSERT_TRUE(index.ok()) << index.status().to_string();
    run_ = index->runs().front();
    const std::string partition = content(run_.index(), BlockType::kIndexPartition);
    format::IndexCursor cursor;
    ASSERT_TRUE(cursor.open(partition, run_).ok());
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) blocks_.push_back(cursor.block());
    ASSERT_GE(blocks_.size(), 4u);
  }

  std::string content(const BlockHandle& handle, BlockType type) {
    return *format::decode_block(std::string_view(bytes_).substr(handle.offset, handle.bytes), {kSeed, handle.offset},
                                 type, decompressor_, nullptr);
  }
  void replace(const BlockHandle& handle, BlockType type, const std::string& content) {
    std::string block;
    format::append_block(block, type, content, nullptr, format::DictionaryUse::kNever, {kSeed, handle.offset});
    ASSERT_EQ(block.size(), handle.bytes);
    bytes_.replace(handle.offset, handle.bytes, block);
  }
  /// The data block with its entries' keys changed, of the same length.
  void rename(const BlockHandle& handle, const std::function<void(std::string& key)>& change) {
    const std::string before = content(handle, BlockType::kData);
    format::DataBlockCursor cursor;
    ASSERT_TRUE(cursor.open(before).ok());
    format::DataBlockBuilder builder;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      std::string key(cursor.key());
      change(key);
      builder.add({key, cursor.version(), cursor.kind(), cursor.value()}, format::content_hash(key));
    }
    replace(handle, BlockType::kData, std::string(builder.finish()));
  }
  int rows_in(const BlockHandle& handle) {
    const std::string block = content(handle, BlockType::kData);
    format::DataBlockCursor cursor;
    EXPECT_TRUE(cursor.open(block).ok());
    int rows = 0;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++rows;
    return rows;
  }

  /// How many rows are saved, each checked.
  int salvage() {
    machine_.files.change_disk(
        [&](io::MemoryDisk& disk) { disk.write_file(test::path_of(source_.name), format::as_bytes(bytes_)); });
    salvage_ = std::make_unique<Salvage>(Salvage{*machine_.directory, {}, {}});
    SalvagedTable table(source_, *salvage_);
    int rows = 0;
    for (; table.valid(); table.next(), ++rows) {
      EXPECT_EQ(table.entry().value, std::string(100, 'v'));
      EXPECT_EQ(table.entry().version, kVersion);
    }
    status_ = table.status();
    return rows;
  }
  /// The one loss covers these blocks, and says this of them.
  void expect_loss(const BlockHandle& first, const BlockHandle& last, std::string_view what) {
    EXPECT_EQ(status_.to_string(), "Ok");
    ASSERT_EQ(salvage_->losses.all().size(), 1u);
    const Loss& loss = salvage_->losses.all().front();
    EXPECT_EQ(loss.file, source_.name);
    EXPECT_EQ(loss.offset, first.offset);
    EXPECT_EQ(loss.bytes, last.end() - first.offset);
    EXPECT_NE(loss.what.find(what), std::string::npos) << loss.what;
  }

  test::StoreMachine machine_;
  format::Decompressor decompressor_;
  std::string bytes_;
  TableSource source_;
  format::RunEntry run_;
  std::vector<BlockHandle> blocks_;
  std::unique_ptr<Salvage> salvage_;
  Status status_;
};

TEST_F(SalvagedTableTest, OfASoundFileIsAllOfIt) {
  EXPECT_EQ(salvage(), kRowCount);
  EXPECT_EQ(status_.to_string(), "Ok");
  EXPECT_TRUE(salvage_->losses.empty());
}

TEST_F(SalvagedTableTest, WithoutABlockWhoseKeysGoBack) {
  const int lost = rows_in(blocks_[2]);
  rename(blocks_[2], [](std::string& key) { key[key.size() - 6] = static_cast<char>(key[key.size() - 6] - 1); });
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(blocks_[2], blocks_[2], "holds keys out of their order");
}

TEST_F(SalvagedTableTest, WithoutABlockWhoseKeysTheManifestDoesNotHaveInIt) {
  const int lost = rows_in(blocks_.back());
  rename(blocks_.back(), [](std::string& key) { key.front() = static_cast<char>(key.front() + 1); });
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(blocks_.back(), blocks_.back(), "holds keys out of their order");
}

TEST_F(SalvagedTableTest, WithoutBlocksThatHoldNone) {
  const int lost = rows_in(blocks_[1]) + rows_in(blocks_[2]);
  for (const BlockHandle& block : {blocks_[1], blocks_[2]}) {
    replace(block, BlockType::kData, std::string(content(block, BlockType::kData).size(), '\xff'));
  }
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(blocks_[1], blocks_[2], "");
}

TEST_F(SalvagedTableTest, WithoutABlockThatIsNotCompressedAsItSays) {
  constexpr std::size_t kCompressionAt = 5;
  const BlockHandle handle = blocks_[1];
  std::string block = bytes_.substr(handle.offset, handle.bytes - format::kChecksumBytes);
  block[kCompressionAt] = static_cast<char>(format::BlockCompression::kZstd);
  const std::uint64_t checksum = format::checksum_at({kSeed, handle.offset}, block);
  format::append_u64(block, checksum);
  bytes_.replace(handle.offset, handle.bytes, block);
  const int lost = rows_in(blocks_[2]);  // of the same number of rows
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(handle, handle, "");
}

TEST_F(SalvagedTableTest, WithoutItsIndexPartitionFindsEveryBlockByItself) {
  const std::string index = content(run_.index(), BlockType::kIndexPartition);
  replace(run_.index(), BlockType::kIndexPartition, std::string(index.size(), '\xff'));
  EXPECT_EQ(salvage(), kRowCount);
  EXPECT_EQ(status_.to_string(), "Ok");
  EXPECT_TRUE(salvage_->losses.empty());
  EXPECT_EQ(salvage_->figures.findings.size(), 1u);
}

TEST_F(SalvagedTableTest, EndsARepairAtAKindOfANewerBuild) {
  std::string block = content(blocks_[1], BlockType::kData);
  const std::size_t at = block.find(std::string("\x01") + std::string(100, 'v'), block.size() / 2);
  ASSERT_NE(at, std::string::npos);
  block[at] = static_cast<char>(Kind::kPutExpiring);
  replace(blocks_[1], BlockType::kData, block);
  const int saved = salvage();
  EXPECT_EQ(status_.code(), Code::kUnsupported) << status_.to_string();
  EXPECT_GT(saved, rows_in(blocks_[0]));
  EXPECT_LT(saved, rows_in(blocks_[0]) + rows_in(blocks_[2]));
}

TEST_F(SalvagedTableTest, OfWhichTheManifestSaysOtherThingsIsSavedAndNoted) {
  source_.entry.entry_count += 1;
  EXPECT_EQ(salvage(), kRowCount);
  ASSERT_EQ(salvage_->figures.findings.size(), 1u);
  EXPECT_NE(salvage_->figures.findings.front().find("its properties are not what the manifest says of it"),
            std::string::npos);
}

}  // namespace
}  // namespace varve::engine
